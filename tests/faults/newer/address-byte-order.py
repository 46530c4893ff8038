"""The client takes the server's address in the wrong byte order (htonll forgotten at one end); the rkey is right."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 65536, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap({**qp.own(), "va": int.from_bytes(memory.addr.to_bytes(8, "big"), "little"), "rkey": memory.rkey}))
    peer.put("ready")
    say("served: " + str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 8192, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    theirs = peer.swap(qp.own())
    qp.connect(theirs)
    peer.get()
    qp.send(1, "read", memory.sge(0, 3000), theirs["va"], theirs["rkey"])
    wc = cq.take(1)
    peer.put("end")
    return not wc or wc[0].status != 0


main(server, client)
