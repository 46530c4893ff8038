"""The client fills one buffer again and again, and sends it unsignaled, without waiting for completions."""
from verbs_end import *


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 64 * 1024), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    for i in range(32):
        qp.receive(i, memory.sge(i * 1024, 1024))
    qp.connect(peer.swap(qp.own()))
    peer.put("ready")
    got = cq.take(12, 8)
    wrong = [n for n, wc in enumerate(got) if memory.read(wc.wr_id * 1024, 800) != bytes([65 + n]) * 800]
    say(f"received {len(got)}, wrong: {wrong}")
    peer.put("end")
    return bool(wrong) or len(got) != 12


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 1024), Cq(device)
    qp = Qp(device, pd, cq)
    qp.init()
    qp.connect(peer.swap(qp.own()), timeout=17)
    peer.get()
    for n in range(12):
        memory.write(bytes([65 + n]) * 800)
        qp.send(n, "send", memory.sge(0, 800), flags=SIGNALED if n == 11 else 0)
        time.sleep(0.01)
    cq.take(1)
    peer.get()


main(server, client)
