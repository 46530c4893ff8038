"""The client posts a list of up to 40 WRITEs with one call; its send queue has room for 16."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 65536, ALL), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap({**qp.own(), "va": memory.addr, "rkey": memory.rkey}))
    peer.put("ready")
    say(str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 65536, ALL), Cq(device)
    qp = Qp(device, pd, cq, depth=16, sges=1)
    qp.init()
    theirs = peer.swap(qp.own())
    qp.connect(theirs)
    peer.get()
    for batch in (8, 12, 40):
        error, refused = qp.post(*[qp.request(n, "write", memory.sge(n * 500, 500), theirs["va"] + n * 500, theirs["rkey"],
                                              flags=SIGNALED if n == batch - 1 else 0) for n in range(batch)])
        if error:
            say(f"post of {batch}: error {error} at {refused}")
            peer.put("refused")
            return 1
        cq.take(1)
    peer.put("end")


main(server, client)
