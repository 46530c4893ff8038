"""The server works 120 ms on each message before it posts the receive again; it has two receives. The client sends 16 messages at once."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    for i in range(2):
        qp.receive(i, memory.sge(i * 1024, 1024))
    qp.connect(peer.swap(qp.own()), rnr_timer=14)
    peer.put("ready")
    count = 0
    while count < 16:
        found = cq.take(1)
        if not found or found[-1].status:
            say("no message")
            return 1
        for wc in found:
            time.sleep(0.12)
            qp.receive(wc.wr_id, memory.sge(wc.wr_id * 1024, 1024))
            count += 1
    say("received 16")
    peer.get()


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 16 * 1024), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap(qp.own()), timeout=18)
    peer.get()
    for i in range(16):
        qp.send(i, "send", memory.sge(i * 1024, 700))
    got = cq.take(16, 15)
    say(f"sent {len(got)}")
    peer.put("end")
    return len(got) != 16


main(server, client)
