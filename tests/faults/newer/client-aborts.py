"""The client dies of SIGABRT after its third request; the server waits for ten."""
from verbs_end import *


def setup(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 16384), (Cq(device), Cq(device))
    qp = Qp(device, pd, cq[0], recv_cq=cq[1])
    qp.init()
    for i in range(12):
        qp.receive(100 + i, memory.sge(1024 * i, 1024))
    qp.connect(peer.swap(qp.own()), retry=3)
    peer.swap("ready")
    return memory, cq, qp


def server(peer):
    memory, cq, qp = setup(peer)
    for n in range(10):
        wc = cq[1].take(1, 5)
        if not wc:
            say("the client is silent")
            return 1
        qp.send(n, "send", memory.sge(0, 300))
        wc = cq[0].take(1, 9)
        if not wc or wc[0].status:
            say("reply failed")
            return 1


def client(peer):
    memory, cq, qp = setup(peer)
    for n in range(10):
        qp.send(n, "send", memory.sge(0, 500))
        if n == 3:
            time.sleep(0.003)
            os.abort()
        cq[0].take(1)
        cq[1].take(1)


main(server, client)
