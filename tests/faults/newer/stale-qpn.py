"""The server restarts (a new queue pair); its configuration file still has the number of the queue pair before the restart."""
from verbs_end import *


def setup(device):
    pd = device.pd()
    return pd, Cq(device), Memory(pd, 4096, ALL)


def server(peer):
    device = Device()
    pd, cq, memory = setup(device)
    before = Qp(device, pd, cq)
    before.init()
    old = before.num
    before.destroy()
    qp = Qp(device, pd, cq)
    qp.init()
    mine = {**qp.own(), "qpn": old, "va": memory.addr, "rkey": memory.rkey}
    qp.connect(peer.swap(mine))
    peer.put("ready")
    say("served: " + str(peer.get()))


def client(peer):
    device = Device()
    pd, cq, memory = setup(device)
    qp = Qp(device, pd, cq)
    qp.init()
    theirs = peer.swap(qp.own())
    qp.connect(theirs, retry=3)
    peer.get()
    for i in range(1, 4):
        qp.send(i, "write", memory.sge(0, 512), theirs["va"], theirs["rkey"])
    done = [wc for wc in cq.take(3, 9) if wc.status == 0]
    say(f"{len(done)} of 3 writes")
    peer.put(len(done))
    return len(done) != 3


main(server, client)
