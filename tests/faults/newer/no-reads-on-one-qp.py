"""Three queue pairs; the server's third one was connected with max_dest_rd_atomic 0. The client READs on all of them."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 8192, ALL, 3), Cq(device)
    qps = [Qp(device, pd, cq) for _ in range(3)]
    for qp in qps:
        qp.init()
    theirs = peer.swap([{**qp.own(), "va": memory.addr, "rkey": memory.rkey} for qp in qps])
    for n, qp in enumerate(qps):
        qp.connect(theirs[n], accepted=0 if n == 2 else 4)
    peer.put("ready")
    say(str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 8192, ALL), Cq(device)
    qps = [Qp(device, pd, cq) for _ in range(3)]
    for qp in qps:
        qp.init()
    theirs = peer.swap([qp.own() for qp in qps])
    for n, qp in enumerate(qps):
        qp.connect(theirs[n])
    peer.get()
    for n in range(4):
        for k, qp in enumerate(qps):
            qp.send(10 * n + k, "read", memory.sge(0, 1500), theirs[k]["va"], theirs[k]["rkey"])
            wc = cq.take(1)
            if not wc or wc[0].status:
                peer.put("a READ failed")
                return 1
    peer.put("end")


main(server, client)
