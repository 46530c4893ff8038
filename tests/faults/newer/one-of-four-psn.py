"""Four queue pairs; in the exchange for the third one, the client's first PSN is that of the fourth."""
from verbs_end import *


def setup():
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 8192, ALL), Cq(device)
    qps = [Qp(device, pd, cq) for _ in range(4)]
    for qp in qps:
        qp.init()
    return memory, cq, qps


def server(peer):
    memory, cq, qps = setup()
    for n, qp in enumerate(qps):
        for i in range(4):
            qp.receive(10 * n + i, memory.sge(0, 2000))
    theirs = peer.swap([qp.own() for qp in qps])
    for qp, end in zip(qps, theirs):
        qp.connect(end)
    peer.put("ready")
    say(str(peer.get()))
    say(f"received {len(cq.take(16, 0.5))} of 16")


def client(peer):
    memory, cq, qps = setup()
    mine = [qp.own() for qp in qps]
    mine[2]["psn"] = mine[3]["psn"]
    theirs = peer.swap(mine)
    for qp, end in zip(qps, theirs):
        qp.connect(end, retry=3)
    peer.get()
    for n in range(4):
        for k, qp in enumerate(qps):
            qp.send(10 * n + k, "send", memory.sge(0, 1500))
    done, failed, end = 0, False, time.time() + 6
    while time.time() < end and done < 12:
        for wc in cq.poll():
            done += wc.status == 0
            failed |= wc.status != 0
        time.sleep(0.001)
    time.sleep(2)
    failed |= any(wc.status for wc in cq.poll())
    say(f"{done} sends done, failed: {failed}")
    peer.put("end")
    return 1 if failed or done != 16 else 0


main(server, client)
