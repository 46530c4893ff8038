"""SENDs, WRITEs, READs and WRITEs with immediate of 0 bytes, with and without a buffer; only every third request asks for a completion."""
from verbs_end import *


def setup(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    for i in range(16):
        qp.receive(100 + i, memory.sge(0, 64) if i % 2 else [])
    theirs = peer.swap({**qp.own(), "va": memory.addr, "rkey": memory.rkey})
    qp.connect(theirs, timeout=17)
    peer.swap("ready")
    return memory, cq, qp, theirs


def server(peer):
    memory, cq, qp, theirs = setup(peer)
    say(f"received {len(cq.take(8))}")
    peer.get()


def client(peer):
    memory, cq, qp, theirs = setup(peer)
    for n in range(4):
        qp.send(n, "write", memory.sge(0, 0), theirs["va"], theirs["rkey"], 0)
        qp.send(n, "send", [], flags=0)
        qp.send(n, "read", memory.sge(0, 0), theirs["va"], theirs["rkey"])
        qp.send(n, "write-imm", memory.sge(0, 0), theirs["va"], theirs["rkey"], imm=n)
        if len(cq.take(2)) != 2:
            return 1
    say("all done")
    peer.put("end")


main(server, client)
