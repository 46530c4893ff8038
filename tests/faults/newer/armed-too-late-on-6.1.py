"""A server that sleeps on completion events: it polls until the queue is empty, works for 300 ms, and only then arms the queue again.
The second request arrives in between, so the server sleeps for ever, and so does the client, which waits for the reply."""
from verbs_end import *


def setup(peer, events):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 16384), Cq(device, events=events)
    send_cq = Cq(device)
    qp = Qp(device, pd, send_cq, recv_cq=cq)
    qp.init()
    for i in range(12):
        qp.receive(100 + i, memory.sge(1024 * i, 1024))
    if events:
        cq.arm()
    qp.connect(peer.swap(qp.own()))
    peer.swap("ready")
    return memory, cq, send_cq, qp


def server(peer):
    memory, cq, send_cq, qp = setup(peer, True)
    while cq.wait(9):
        while True:
            found = cq.poll()
            if not found:
                break
            for wc in found:
                qp.send(wc.wr_id, "send", memory.sge(0, 100))
                send_cq.take(1)
        time.sleep(0.3)
        cq.arm()
    say("no event")
    return 1


def client(peer):
    memory, cq, send_cq, qp = setup(peer, False)
    for n in range(5):
        qp.send(n, "send", memory.sge(0, 256))
        if not cq.take(1, 8):
            say(f"no reply to request {n}")
            return 1


main(server, client)
