"""A server with a protection domain for each of two tenants gives the second tenant the address and rkey of the first one's region."""
from verbs_end import *


def server(peer):
    device = Device()
    cq = Cq(device)
    pds = [device.pd(), device.pd()]
    regions = [Memory(pd, 8192, ALL) for pd in pds]
    qps = [Qp(device, pd, cq) for pd in pds]
    for qp in qps:
        qp.init()
    theirs = peer.swap([{**qp.own(), "va": regions[0].addr, "rkey": regions[0].rkey} for qp in qps])
    for qp, end in zip(qps, theirs):
        qp.connect(end)
    peer.put("ready")
    say(str(peer.get()))


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 8192, ALL), Cq(device)
    qps = [Qp(device, pd, cq) for _ in range(2)]
    for qp in qps:
        qp.init()
    theirs = peer.swap([qp.own() for qp in qps])
    for qp, end in zip(qps, theirs):
        qp.connect(end)
    peer.get()
    for n in range(3):
        for k, qp in enumerate(qps):
            qp.send(10 * n + k, "write", memory.sge(0, 2500), theirs[k]["va"], theirs[k]["rkey"])
            wc = cq.take(1)
            if not wc or wc[0].status:
                say(f"write of tenant {k} failed")
                peer.put("failed")
                return 1
    peer.put("end")


main(server, client)
