"""Small messages are sent inline, from memory that is not registered (lkey 0). The path for write-with-immediate forgot the flag."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    for i in range(8):
        qp.receive(i, memory.sge(0, 64))
    qp.connect(peer.swap({**qp.own(), "va": memory.addr, "rkey": memory.rkey}))
    peer.put("ready")
    say(str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    cq = Cq(device)
    qp = Qp(device, pd, cq, inline=128)
    qp.init()
    theirs = peer.swap(qp.own())
    qp.connect(theirs)
    peer.get()
    text = C.create_string_buffer(b"state of this rank: ready", 40)
    for n, (op, flags) in enumerate([("send", INLINE), ("write", INLINE), ("send", INLINE), ("write-imm", 0)]):
        qp.send(n, op, Sge(C.addressof(text), 40, 0), theirs["va"], theirs["rkey"], flags | SIGNALED, imm=5)
        wc = cq.take(1)
        if not wc or wc[0].status:
            say(f"request {n} failed")
            peer.put("failed")
            return 1
    peer.put("end")


main(server, client)
