"""WRITEs, READs and SENDs of several packets while the PSNs of both directions pass 0xffffff."""
from verbs_end import *


def setup(peer, psn):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 65536, ALL, 9), Cq(device)
    qp = Qp(device, pd, cq, psn=psn)
    qp.init()
    for i in range(8):
        qp.receive(100 + i, memory.sge(0, 4000))
    theirs = peer.swap({**qp.own(), "va": memory.addr, "rkey": memory.rkey})
    qp.connect(theirs, mtu=512, timeout=17)
    peer.swap("ready")
    return memory, cq, qp, theirs


def server(peer):
    memory, cq, qp, theirs = setup(peer, 0xfffffd)
    for n in range(6):
        cq.take(1)
        qp.send(n, "send", memory.sge(0, 1300))
        cq.take(1)
    peer.get()


def client(peer):
    memory, cq, qp, theirs = setup(peer, 0xfffff0)
    for n in range(6):
        qp.send(n, "write", memory.sge(0, 2000), theirs["va"], theirs["rkey"])
        qp.send(n, "read", memory.sge(0, 2000), theirs["va"], theirs["rkey"])
        if len(cq.take(2)) != 2:
            return 1
        qp.send(n, "send", memory.sge(0, 2000))
        if len(cq.take(2)) != 2:
            return 1
    say("all done")
    peer.put("end")


main(server, client)
