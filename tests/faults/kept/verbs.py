"""What the scripts of this folder share: a device with its memory and queue pairs, and the TCP connection for the exchange.

A script is run as SCRIPT server, and as SCRIPT client SERVER-ADDRESS.
"""
import json
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PORT = 18600
REMOTE = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
is_server = sys.argv[1] == "server"


class Channel:
    """The TCP connection to the peer: one JSON value a line."""

    def __init__(self):
        if is_server:
            with socket.create_server(("", PORT)) as listener:
                self.socket = listener.accept()[0]
        else:
            self.socket = socket.create_connection((sys.argv[2], PORT))
        self.lines = self.socket.makefile("rw")

    def swap(self, mine):
        """Sends mine, returns the peer's; None after the peer has ended."""
        try:
            self.lines.write(json.dumps(mine) + "\n")
            self.lines.flush()
            line = self.lines.readline()
        except OSError:
            return None
        return json.loads(line) if line else None


class End:
    """The device of this host, with one protection domain and one completion queue."""

    def __init__(self, entries=256):
        self.context = Context(name="rxe0")
        gids = [str(self.context.query_gid(1, index)) for index in range(4)]
        self.gid_index = next(i for i, gid in enumerate(gids) if gid.startswith("0000:0000:0000:0000:0000:ffff:"))
        self.gid = gids[self.gid_index]
        self.pd = PD(self.context)
        self.cq = CQ(self.context, entries)

    def memory(self, size, access=REMOTE, address=None):
        return MR(self.pd, size, access, address)

    def queue_pair(self, kind=e.IBV_QPT_RC, srq=None, **cap):
        """In state RESET."""
        cap = {"max_send_wr": 64, "max_recv_wr": 0 if srq else 64, **cap}
        return QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, srq=srq, cap=QPCap(**cap)))

    def attributes(self, **values):
        attr = QPAttr(port_num=1)
        for name, value in values.items():
            setattr(attr, name, value)
        return attr

    def address(self, gid):
        return AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=GID(gid), sgid_index=self.gid_index))

    def connect(self, qp, gid, dest_qp_num, **values):
        """RC, from RESET to RTS."""
        attr = self.attributes(**{
            "qp_access_flags": REMOTE, "path_mtu": e.IBV_MTU_1024, "dest_qp_num": dest_qp_num, "ah_attr": self.address(gid),
            "max_dest_rd_atomic": 4, "max_rd_atomic": 4, "min_rnr_timer": 12, "timeout": 14, "retry_cnt": 5, "rnr_retry": 4,
            **values})
        qp.to_rts(attr)

    def completions(self, count, seconds=5):
        """Up to count of them, as they arrive within this time."""
        taken = []
        deadline = time.monotonic() + seconds
        while len(taken) < count and time.monotonic() < deadline:
            taken += self.cq.poll(count - len(taken))[1] or []
        return taken


def send(qp, mr, length, wr_id=1, opcode=e.IBV_WR_SEND, remote=None):
    """remote: address and rkey."""
    wr = SendWR(wr_id=wr_id, opcode=opcode, num_sge=1, sg=[SGE(mr.buf, length, mr.lkey)], send_flags=e.IBV_SEND_SIGNALED)
    if remote:
        wr.set_wr_rdma(remote[1], remote[0])
    qp.post_send(wr)


def receive(queue, mr, length, wr_id=1):
    queue.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[SGE(mr.buf, length, mr.lkey)]))


STATUSES = {getattr(e, name): name for name in ("IBV_WC_" + word for word in (
    "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
    "REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR"))}


def report(completions):
    """Prints how many of them have which status."""
    statuses = [wc.status for wc in completions]
    print("result:", ", ".join(f"{statuses.count(status)} {STATUSES.get(status, status)}" for status in sorted(set(statuses)))
          or "no completion", flush=True)
