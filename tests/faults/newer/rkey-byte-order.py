"""The rkey travels in the wrong byte order; the CAS of the client is refused."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap({**qp.own(), "va": memory.addr, "rkey": int.from_bytes(memory.rkey.to_bytes(4, "big"), "little")}))
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
    qp.send(1, "cas", memory.sge(0, 8), theirs["va"], theirs["rkey"], add=0, swap=1)
    wc = cq.take(1)
    peer.put("end")
    return not wc or wc[0].status != 0


main(server, client)
