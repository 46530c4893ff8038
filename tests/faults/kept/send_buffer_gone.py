"""The client deregisters its buffer after three of eight SENDs, as if they had all been completed."""
from types import SimpleNamespace

import verbs

end = verbs.End()
mr = end.memory(4096)
other = end.memory(4096)
qp = end.queue_pair()
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num})
end.connect(qp, theirs["gid"], theirs["qpn"], sq_psn=0x5000, rq_psn=0x5000)
if verbs.is_server:
    for number in range(8):
        verbs.receive(qp, mr, 4096, number)
channel.swap("ready")
if verbs.is_server:
    verbs.report(end.completions(8, 3))
else:
    taken = []
    gone = SimpleNamespace(buf=other.buf, lkey=mr.lkey)
    for number in range(3):
        verbs.send(qp, mr, 500, number)
        taken += end.completions(1)
    mr.close()
    for number in range(3, 8):
        verbs.send(qp, gone, 500, number)
    verbs.report(taken + end.completions(5, 3))
channel.swap("done")
