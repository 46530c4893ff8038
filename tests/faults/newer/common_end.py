"""What the programs of this folder have in common: an end of a connection over Soft-RoCE, with pyverbs. Without an argument a program is
the server, with the server's address the client. The ends exchange lines of JSON over TCP."""
import json
import os
import socket
import sys
import time

PORT = 18700
is_server = len(sys.argv) < 2
if is_server:  # before the imports, which take seconds in an emulated guest
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('', PORT))
    listener.listen(1)
import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR, MW, MWBindInfo
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

LOCAL, WRITE = e.IBV_ACCESS_LOCAL_WRITE, e.IBV_ACCESS_REMOTE_WRITE
READ, ATOMIC = e.IBV_ACCESS_REMOTE_READ, e.IBV_ACCESS_REMOTE_ATOMIC
ALL = LOCAL | WRITE | READ | ATOMIC
SIGNALED, INLINE, SOLICITED = e.IBV_SEND_SIGNALED, e.IBV_SEND_INLINE, e.IBV_SEND_SOLICITED
RC, UC, UD = e.IBV_QPT_RC, e.IBV_QPT_UC, e.IBV_QPT_UD
MTUS = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}


def say(*words):
    print(*words, flush=True)


def fail(*words):
    say(*words)
    sys.exit(1)


class Link:
    """The TCP connection between the two programs."""

    def __init__(self):
        if is_server:
            self.socket = listener.accept()[0]
        else:
            self.socket = socket.create_connection((sys.argv[1], PORT), 10)
        self.socket.settimeout(30)
        self.file = self.socket.makefile('rw')

    def tell(self, **what):
        self.file.write(json.dumps(what) + '\n')
        self.file.flush()

    def hear(self):
        try:
            line = self.file.readline()
        except OSError:
            line = ''
        return json.loads(line) if line else None

    def swap(self, **what):
        self.tell(**what)
        return self.hear()


class End:
    def __init__(self, kind=RC, size=65536, access=ALL, depth=64, receives=64, sges=1, inline=0, cqe=256, events=False, share=None):
        if share:
            self.context, self.pd, self.mr, self.channel, self.cq = share.context, share.pd, share.mr, share.channel, share.cq
        else:
            self.context = Context(name=get_device_list()[0].name.decode())
            self.pd = PD(self.context)
            self.mr = MR(self.pd, size, access | (e.IBV_ACCESS_MW_BIND if access & LOCAL else 0))
            self.channel = CompChannel(self.context) if events else None
            self.cq = CQ(self.context, cqe, None, self.channel, 0)
        self.gid_index = next(i for i in range(8) if str(self.context.query_gid(1, i)).startswith('0000:0000:0000:0000:0000:ffff'))
        self.gid = str(self.context.query_gid(1, self.gid_index))
        cap = QPCap(max_send_wr=depth, max_recv_wr=receives, max_send_sge=sges, max_recv_sge=sges, max_inline_data=inline)
        self.kind = kind
        self.qp = QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, cap=cap))
        self.qpn = self.qp.qp_num
        self.psn = int.from_bytes(os.urandom(3), 'big')

    def address(self, **changed):
        return {**{'qpn': self.qpn, 'psn': self.psn, 'gid': self.gid, 'rkey': self.mr.rkey, 'addr': self.mr.buf}, **changed}

    def init(self, access=ALL, qkey=0x11111111):
        attr = QPAttr(qp_state=e.IBV_QPS_INIT)
        attr.port_num, attr.pkey_index = 1, 0
        mask = e.IBV_QP_STATE | e.IBV_QP_PORT | e.IBV_QP_PKEY_INDEX
        if self.kind == UD:
            attr.qkey = qkey
            mask |= e.IBV_QP_QKEY
        else:
            attr.qp_access_flags = access
            mask |= e.IBV_QP_ACCESS_FLAGS
        self.qp.modify(attr, mask)

    def handle(self, gid, is_global=1):
        route = GlobalRoute(dgid=GID(gid), sgid_index=self.gid_index)
        return AHAttr(gr=route, is_global=is_global, port_num=1)

    def rtr(self, peer, mtu=1024, accepted=8, rnr_timer=12, is_global=1):
        attr = QPAttr(qp_state=e.IBV_QPS_RTR)
        mask = e.IBV_QP_STATE
        if self.kind != UD:
            attr.path_mtu, attr.dest_qp_num, attr.rq_psn = MTUS[mtu], peer['qpn'], peer['psn']
            attr.ah_attr = self.handle(peer['gid'], is_global)
            mask |= e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN | e.IBV_QP_RQ_PSN
        if self.kind == RC:
            attr.max_dest_rd_atomic, attr.min_rnr_timer = accepted, rnr_timer
            mask |= e.IBV_QP_MAX_DEST_RD_ATOMIC | e.IBV_QP_MIN_RNR_TIMER
        self.qp.modify(attr, mask)

    def rts(self, timeout=14, retries=7, rnr_retries=7, reads=8):
        attr = QPAttr(qp_state=e.IBV_QPS_RTS)
        attr.sq_psn = self.psn
        mask = e.IBV_QP_STATE | e.IBV_QP_SQ_PSN
        if self.kind == RC:
            attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic = timeout, retries, rnr_retries, reads
            mask |= e.IBV_QP_TIMEOUT | e.IBV_QP_RETRY_CNT | e.IBV_QP_RNR_RETRY | e.IBV_QP_MAX_QP_RD_ATOMIC
        self.qp.modify(attr, mask)

    def receive(self, wr_id=0, offset=0, length=4096, mr=None):
        mr = mr or self.mr
        self.qp.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[SGE(mr.buf + offset, length, mr.lkey)]))

    def post(self, opcode, wr_id=1, offset=0, length=1000, to=None, at=0, flags=SIGNALED, pieces=1, imm=0, add=1):
        step = length // pieces
        sges = [SGE(self.mr.buf + offset + i * step, step if i < pieces - 1 else length - i * step, self.mr.lkey) for i in range(pieces)]
        wr = SendWR(wr_id=wr_id, opcode=opcode, num_sge=len(sges), sg=sges, send_flags=flags, imm_data=imm)
        if opcode in (e.IBV_WR_ATOMIC_FETCH_AND_ADD, e.IBV_WR_ATOMIC_CMP_AND_SWP):
            wr.set_wr_atomic(to['rkey'], to['addr'] + at, add, 0)
        elif to and 'rkey' in to and opcode in (e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_READ, e.IBV_WR_RDMA_WRITE_WITH_IMM):
            wr.set_wr_rdma(to['rkey'], to['addr'] + at)
        self.qp.post_send(wr)

    def send(self, **what):
        self.post(e.IBV_WR_SEND, **what)

    def write(self, to, **what):
        self.post(e.IBV_WR_RDMA_WRITE, to=to, **what)

    def read(self, to, **what):
        self.post(e.IBV_WR_RDMA_READ, to=to, **what)

    def datagram(self, ah, qpn, qkey=0x11111111, wr_id=1, offset=0, length=500):
        wr = SendWR(wr_id=wr_id, opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(self.mr.buf + offset, length, self.mr.lkey)])
        wr.set_wr_ud(ah, qpn, qkey)
        self.qp.post_send(wr)

    def done(self, count=1, seconds=8, must=True):
        """Polls count completions. Ends the program at the first that failed, or after so many seconds."""
        found, until = [], time.time() + seconds
        while len(found) < count:
            number, completions = self.cq.poll(1)
            for wc in completions or []:
                found.append(wc)
                if wc.status:
                    fail('request', wc.wr_id, 'failed with status', wc.status)
            if not number:
                if time.time() > until:
                    if must:
                        fail('only', len(found), 'of', count, 'completions')
                    break
                time.sleep(0.001)
        return found


def pair(init={}, rtr={}, rts={}, receives=0, length=4096, told={}, **made):
    """Both ends up to RTS: the end, the peer's address, the TCP connection."""
    link = Link()
    end = End(**made)
    peer = link.swap(**end.address(**told))
    end.init(**init)
    for i in range(receives):
        end.receive(i, 0, length)
    end.rtr(peer, **rtr)
    end.rts(**rts)
    link.swap()
    return end, peer, link
