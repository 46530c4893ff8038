"""The server's four queue pairs share a completion queue of 15 entries, each has 10 receives; it polls only after a second."""
from verbs_end import *


def setup(entries):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 65536, ALL), Cq(device, entries)
    qps = [Qp(device, pd, cq) for _ in range(4)]
    for qp in qps:
        qp.init()
    return memory, cq, qps


def server(peer):
    memory, cq, qps = setup(15)
    for n, qp in enumerate(qps):
        for i in range(10):
            qp.receive(100 * n + i, memory.sge(0, 512))
    theirs = peer.swap([qp.own() for qp in qps])
    for qp, end in zip(qps, theirs):
        qp.connect(end)
    peer.put("ready")
    time.sleep(2)
    got = len(cq.take(40, 3))
    say(f"received {got} of 40")
    peer.put("end")
    return got != 40


def client(peer):
    memory, cq, qps = setup(256)
    theirs = peer.swap([qp.own() for qp in qps])
    for qp, end in zip(qps, theirs):
        qp.connect(end)
    peer.get()
    for n in range(10):
        for k, qp in enumerate(qps):
            qp.send(10 * n + k, "send", memory.sge(0, 333))
    say(f"sent {len(cq.take(40))}")
    peer.get()


main(server, client)
