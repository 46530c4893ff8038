"""Three connections share a receive queue, which the server fills once, with fewer receives than there are messages."""
import verbs
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr

end = verbs.End()
mr = end.memory(4096)
srq = SRQ(end.pd, SrqInitAttr(SrqAttr(max_wr=16, max_sge=1)))
if verbs.is_server:
    for number in range(7):
        verbs.receive(srq, mr, 1024, number)
qps = [end.queue_pair(srq=srq) for _ in range(3)]
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpns": [qp.qp_num for qp in qps]})
for index, qp in enumerate(qps):
    end.connect(qp, theirs["gid"], theirs["qpns"][index], sq_psn=0x2000, rq_psn=0x2000)
channel.swap("ready")
if not verbs.is_server:
    for number in range(4):
        for index, qp in enumerate(qps):
            verbs.send(qp, mr, 800, 10 * number + index)
verbs.report(end.completions(7 if verbs.is_server else 12, 3))
channel.swap("done")
