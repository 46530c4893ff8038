"""A small binding to libibverbs for programs of this folder: devices, queue pairs, requests, completions, and an exchange over TCP."""
import ctypes as C
import json
import os
import select
import socket
import sys
import time

L = C.CDLL("libibverbs.so.1", use_errno=True)
P, U8, U16, U32, U64, I = C.c_void_p, C.c_uint8, C.c_uint16, C.c_uint32, C.c_uint64, C.c_int


class Sge(C.Structure):
    _fields_ = [("addr", U64), ("length", U32), ("lkey", U32)]


class Rdma(C.Structure):
    _fields_ = [("remote_addr", U64), ("rkey", U32)]


class Atomic(C.Structure):
    _fields_ = [("remote_addr", U64), ("compare_add", U64), ("swap", U64), ("rkey", U32)]


class Ud(C.Structure):
    _fields_ = [("ah", P), ("remote_qpn", U32), ("remote_qkey", U32)]


class Wr(C.Union):
    _fields_ = [("rdma", Rdma), ("atomic", Atomic), ("ud", Ud)]


class SendWr(C.Structure):
    pass


SendWr._fields_ = [("wr_id", U64), ("next", C.POINTER(SendWr)), ("sg_list", C.POINTER(Sge)), ("num_sge", I), ("opcode", I),
                   ("send_flags", U32), ("imm_data", U32), ("wr", Wr), ("rest", U8 * 56)]


class RecvWr(C.Structure):
    _fields_ = [("wr_id", U64), ("next", P), ("sg_list", C.POINTER(Sge)), ("num_sge", I)]


class Wc(C.Structure):
    _fields_ = [("wr_id", U64), ("status", I), ("opcode", I), ("vendor_err", U32), ("byte_len", U32), ("imm_data", U32),
                ("qp_num", U32), ("src_qp", U32), ("flags", U32), ("pkey_index", U16), ("slid", U16), ("sl", U8), ("dlid_path_bits", U8)]


class Grh(C.Structure):
    _fields_ = [("dgid", U8 * 16), ("flow_label", U32), ("sgid_index", U8), ("hop_limit", U8), ("traffic_class", U8)]


class Ah(C.Structure):
    _fields_ = [("grh", Grh), ("dlid", U16), ("sl", U8), ("src_path_bits", U8), ("static_rate", U8), ("is_global", U8), ("port_num", U8)]


class Cap(C.Structure):
    _fields_ = [("max_send_wr", U32), ("max_recv_wr", U32), ("max_send_sge", U32), ("max_recv_sge", U32), ("max_inline_data", U32)]


class QpAttr(C.Structure):
    _fields_ = [("qp_state", I), ("cur_qp_state", I), ("path_mtu", I), ("path_mig_state", I), ("qkey", U32), ("rq_psn", U32),
                ("sq_psn", U32), ("dest_qp_num", U32), ("qp_access_flags", U32), ("cap", Cap), ("ah_attr", Ah), ("alt_ah_attr", Ah),
                ("pkey_index", U16), ("alt_pkey_index", U16), ("en_sqd", U8), ("sq_draining", U8), ("max_rd_atomic", U8),
                ("max_dest_rd_atomic", U8), ("min_rnr_timer", U8), ("port_num", U8), ("timeout", U8), ("retry_cnt", U8),
                ("rnr_retry", U8), ("alt_port_num", U8), ("alt_timeout", U8), ("rate_limit", U32), ("pad", U32)]


class QpInit(C.Structure):
    _fields_ = [("qp_context", P), ("send_cq", P), ("recv_cq", P), ("srq", P), ("cap", Cap), ("qp_type", I), ("sq_sig_all", I)]


assert C.sizeof(SendWr) == 128 and C.sizeof(RecvWr) == 32 and C.sizeof(Wc) == 48 and C.sizeof(Ah) == 32
assert C.sizeof(QpAttr) == 144 and C.sizeof(QpInit) == 64

for name, result, arguments in [
        ("ibv_get_device_list", C.POINTER(P), [P]), ("ibv_open_device", P, [P]), ("ibv_alloc_pd", P, [P]),
        ("ibv_reg_mr", P, [P, P, C.c_size_t, I]), ("ibv_dereg_mr", I, [P]), ("ibv_create_cq", P, [P, I, P, P, I]),
        ("ibv_create_comp_channel", P, [P]), ("ibv_get_cq_event", I, [P, C.POINTER(P), C.POINTER(P)]),
        ("ibv_ack_cq_events", None, [P, C.c_uint]), ("ibv_create_qp", P, [P, C.POINTER(QpInit)]),
        ("ibv_modify_qp", I, [P, C.POINTER(QpAttr), I]), ("ibv_destroy_qp", I, [P]), ("ibv_create_ah", P, [P, C.POINTER(Ah)]),
        ("ibv_query_gid", I, [P, U8, I, P])]:
    function = getattr(L, name)
    function.restype, function.argtypes = result, arguments

POLL = C.CFUNCTYPE(I, P, I, C.POINTER(Wc))
NOTIFY = C.CFUNCTYPE(I, P, I)
SEND = C.CFUNCTYPE(I, P, C.POINTER(SendWr), C.POINTER(C.POINTER(SendWr)))
RECV = C.CFUNCTYPE(I, P, C.POINTER(RecvWr), C.POINTER(P))

STATE, ACCESS, PKEY, PORT, QKEY, AV, MTU, TIMEOUT, RETRY, RNR, RQ_PSN, MAX_RD, RNR_TIMER, SQ_PSN, MAX_DEST, DEST = (
    1 << 0, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 15, 1 << 16, 1 << 17, 1 << 20)
RC, UC, UD = 2, 3, 4
LOCAL, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = 1, 2, 4, 8
ALL = LOCAL | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC
OP = {"write": 0, "write-imm": 1, "send": 2, "send-imm": 3, "read": 4, "cas": 5, "add": 6}
SIGNALED, SOLICITED, INLINE = 2, 4, 8


def say(text):
    print(text, flush=True)


def op_of(context, offset, kind):
    return kind(C.cast(context + 8 + offset, C.POINTER(P))[0])


def context_of(thing):
    return C.cast(thing, C.POINTER(P))[0]


def ok(value, what):
    if not value:
        raise OSError(C.get_errno(), what + ": " + os.strerror(C.get_errno()))
    return value


def zero(error, what):
    if error:
        error = C.get_errno() if error < 0 else error
        raise OSError(error, what + ": " + os.strerror(error))


class Device:
    def __init__(self):
        self.context = ok(L.ibv_open_device(L.ibv_get_device_list(None)[0]), "ibv_open_device")
        for index in range(16):
            gid = (U8 * 16)()
            if L.ibv_query_gid(self.context, 1, index, gid) == 0 and bytes(gid)[:12] == b"\0" * 10 + b"\xff\xff":
                self.gid, self.gid_index = bytes(gid), index
                return
        raise SystemExit("no IPv4 GID")

    def pd(self):
        return ok(L.ibv_alloc_pd(self.context), "ibv_alloc_pd")


class Memory:
    def __init__(self, pd, size, access=LOCAL, fill=0):
        self.size = size
        self.raw = C.create_string_buffer(bytes([fill]) * (size + 64), size + 64)
        self.addr = (C.addressof(self.raw) + 63) & ~63
        self.mr = ok(L.ibv_reg_mr(pd, self.addr, size, access), "ibv_reg_mr")
        self.lkey = C.cast(self.mr + 36, C.POINTER(U32))[0]
        self.rkey = C.cast(self.mr + 40, C.POINTER(U32))[0]

    def sge(self, offset=0, length=None):
        return Sge(self.addr + offset, self.size - offset if length is None else length, self.lkey)

    def write(self, data, offset=0):
        C.memmove(self.addr + offset, data, len(data))

    def read(self, offset=0, length=None):
        return C.string_at(self.addr + offset, self.size - offset if length is None else length)

    def deregister(self):
        zero(L.ibv_dereg_mr(self.mr), "ibv_dereg_mr")


class Cq:
    def __init__(self, device, entries=256, events=False):
        self.channel = ok(L.ibv_create_comp_channel(device.context), "channel") if events else None
        self.cq = ok(L.ibv_create_cq(device.context, entries, None, self.channel, 0), "ibv_create_cq")

    def poll(self, most=16):
        found = (Wc * most)()
        count = op_of(context_of(self.cq), 88, POLL)(self.cq, most, found)
        return [found[i] for i in range(max(count, 0))]

    def take(self, count, seconds=8.0):
        """Polls until `count` completions, an error, or the time limit."""
        end, got = time.time() + seconds, []
        while len(got) < count and time.time() < end:
            new = self.poll()
            for wc in new:
                if wc.status:
                    say(f"completion of {wc.wr_id}: status {wc.status}")
                    return got + [wc]
            got += new
            if not new:
                time.sleep(0.001)
        return got

    def arm(self):
        zero(op_of(context_of(self.cq), 96, NOTIFY)(self.cq, 0), "ibv_req_notify_cq")

    def wait(self, seconds):
        """Waits for an event; False after the time limit."""
        descriptor = C.cast(self.channel + 8, C.POINTER(I))[0]
        if not select.select([descriptor], [], [], seconds)[0]:
            return False
        cq, context = P(), P()
        zero(L.ibv_get_cq_event(self.channel, C.byref(cq), C.byref(context)), "ibv_get_cq_event")
        L.ibv_ack_cq_events(cq, 1)
        return True


class Qp:
    def __init__(self, device, pd, cq, kind=RC, depth=64, receives=256, sges=4, inline=0, psn=None, recv_cq=None):
        self.device, self.pd, self.cq, self.kind = device, pd, cq, kind
        init = QpInit(send_cq=cq.cq, recv_cq=(recv_cq or cq).cq, qp_type=kind, cap=Cap(depth, receives, sges, sges, inline))
        self.qp = ok(L.ibv_create_qp(pd, C.byref(init)), "ibv_create_qp")
        self.num = C.cast(self.qp + 52, C.POINTER(U32))[0]
        self.psn = int.from_bytes(os.urandom(3), "big") if psn is None else psn
        self.keep = []

    def modify(self, mask, **values):
        attributes = QpAttr(**values)
        zero(L.ibv_modify_qp(self.qp, C.byref(attributes), mask), "ibv_modify_qp")

    def init(self, access=ALL, qkey=0x11111111):
        if self.kind == UD:
            self.modify(STATE | PKEY | PORT | QKEY, qp_state=1, port_num=1, qkey=qkey)
        else:
            self.modify(STATE | PKEY | PORT | ACCESS, qp_state=1, port_num=1, qp_access_flags=access)

    def own(self):
        return {"qpn": self.num, "psn": self.psn, "gid": self.device.gid.hex()}

    def path(self, gid):
        ah = Ah(is_global=1, port_num=1)
        ah.grh.sgid_index, ah.grh.hop_limit = self.device.gid_index, 64
        ah.grh.dgid[:] = bytes.fromhex(gid)
        return ah

    def connect(self, peer, mtu=1024, reads=4, accepted=4, timeout=14, retry=6, rnr_retry=7, rnr_timer=12):
        self.to_rtr(peer, mtu, accepted, rnr_timer)
        self.to_rts(reads, timeout, retry, rnr_retry)

    def to_rtr(self, peer, mtu=1024, accepted=4, rnr_timer=12):
        if self.kind == UD:
            self.modify(STATE, qp_state=2)
            return
        mask = STATE | AV | MTU | DEST | RQ_PSN
        if self.kind == RC:
            mask |= MAX_DEST | RNR_TIMER
        self.modify(mask, qp_state=2, path_mtu={256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[mtu], dest_qp_num=peer["qpn"],
                    rq_psn=peer["psn"], ah_attr=self.path(peer["gid"]), max_dest_rd_atomic=accepted, min_rnr_timer=rnr_timer)

    def to_rts(self, reads=4, timeout=14, retry=6, rnr_retry=7):
        mask = STATE | SQ_PSN
        if self.kind == RC:
            mask |= TIMEOUT | RETRY | RNR | MAX_RD
        self.modify(mask, qp_state=3, sq_psn=self.psn, timeout=timeout, retry_cnt=retry, rnr_retry=rnr_retry, max_rd_atomic=reads)

    def ah(self, gid):
        path = self.path(gid)
        return ok(L.ibv_create_ah(self.pd, C.byref(path)), "ibv_create_ah")

    def request(self, wr_id, op, sges, va=0, rkey=0, flags=SIGNALED, imm=0, add=0, swap=0, ud=None):
        sges = sges if isinstance(sges, list) else [sges]
        array = (Sge * max(len(sges), 1))(*sges)
        wr = SendWr(wr_id=wr_id, sg_list=array, num_sge=len(sges), opcode=OP[op], send_flags=flags, imm_data=imm)
        if ud:
            wr.wr.ud = Ud(*ud)
        elif op in ("cas", "add"):
            wr.wr.atomic = Atomic(va, add, swap, rkey)
        else:
            wr.wr.rdma = Rdma(va, rkey)
        self.keep = (self.keep + [array, wr])[-512:]
        return wr

    def post(self, *requests):
        """One ibv_post_send with a list of requests. Returns (error, wr_id of the refused one)."""
        for first, second in zip(requests, requests[1:]):
            first.next = C.pointer(second)
        bad = C.POINTER(SendWr)()
        error = op_of(context_of(self.qp), 200, SEND)(self.qp, C.byref(requests[0]), C.byref(bad))
        return error, bad.contents.wr_id if bad else 0

    def send(self, *arguments, **named):
        error, _ = self.post(self.request(*arguments, **named))
        zero(error, "ibv_post_send")

    def receive(self, wr_id, sges):
        sges = sges if isinstance(sges, list) else [sges]
        array = (Sge * max(len(sges), 1))(*sges)
        wr = RecvWr(wr_id=wr_id, sg_list=array, num_sge=len(sges))
        bad = P()
        zero(op_of(context_of(self.qp), 208, RECV)(self.qp, C.byref(wr), C.byref(bad)), "ibv_post_recv")

    def destroy(self):
        zero(L.ibv_destroy_qp(self.qp), "ibv_destroy_qp")


class Channel:
    """Lines of JSON over TCP."""

    def __init__(self, connection):
        self.connection = connection
        connection.settimeout(18)
        self.file = connection.makefile("rw")

    def put(self, value):
        self.file.write(json.dumps(value) + "\n")
        self.file.flush()

    def get(self):
        line = self.file.readline()
        if not line:
            raise SystemExit("the peer closed the TCP connection")
        return json.loads(line)

    def swap(self, value):
        self.put(value)
        return self.get()


def listen(port=18515):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(4)
    return Channel(listener.accept()[0])


def dial(host, port=18515):
    return Channel(socket.create_connection((host, port), 10))


def main(server, client):
    """NAME.py server | NAME.py HOST"""
    sys.exit((server(listen()) if sys.argv[1] == "server" else client(dial(sys.argv[1]))) or 0)
