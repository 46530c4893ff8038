"""Two datagram queue pairs of the client send to one of the server. The second one uses a Q_Key in the other byte order."""
from verbs_end import *

KEY = 0x1ee1a0c5


def server(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 64 * 512), Cq(device)
    qp = Qp(device, pd, cq, UD)
    qp.init(qkey=KEY)
    for i in range(64):
        qp.receive(i, memory.sge(i * 512, 512))
    qp.to_rtr(None)
    qp.to_rts()
    peer.swap(qp.own())
    peer.put("ready")
    got = cq.take(12, 4)
    say(f"received {len(got)} of 12")
    peer.put(len(got))
    return len(got) != 12


def client(peer):
    device = Device()
    pd = device.pd()
    memory, cq = Memory(pd, 4096, fill=7), Cq(device)
    qps = [Qp(device, pd, cq, UD) for _ in range(2)]
    keys = [KEY, int.from_bytes(KEY.to_bytes(4, "big"), "little")]
    theirs = peer.swap({})
    for qp in qps:
        qp.init(qkey=KEY)
        qp.to_rtr(None)
        qp.to_rts()
    handle = qps[0].ah(theirs["gid"])
    peer.get()
    for i in range(6):
        for qp, key in zip(qps, keys):
            qp.send(i + 1, "send", memory.sge(0, 200), ud=(handle, theirs["qpn"], key))
            cq.take(1)
            time.sleep(0.02)
    return peer.get() != 12


main(server, client)
