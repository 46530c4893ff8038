"""FETCH_ADDs on counters in the server's memory; the fourth is behind a header of 12 bytes."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap({**qp.own(), "va": memory.addr, "rkey": memory.rkey}))
    peer.put("ready")
    say(str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    theirs = peer.swap(qp.own())
    qp.connect(theirs)
    peer.get()
    for n, offset in enumerate([0, 8, 64, 128 + 12]):
        qp.send(n, "add", memory.sge(0, 8), theirs["va"] + offset, theirs["rkey"], add=1)
        wc = cq.take(1)
        if not wc or wc[0].status:
            say(f"add {n} failed")
            peer.put("an atomic failed")
            return 1
    peer.put("end")


main(server, client)
