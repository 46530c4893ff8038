"""A client with four connections to one server, which destroys the third of them while WRITEs arrive on all."""
import time

import pyverbs.enums as e
import verbs

end = verbs.End()
mr = end.memory(65536)
qps = [end.queue_pair() for _ in range(4)]
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpns": [qp.qp_num for qp in qps], "memory": [mr.buf, mr.rkey]})
for index, qp in enumerate(qps):
    end.connect(qp, theirs["gid"], theirs["qpns"][index], sq_psn=0x1000, rq_psn=0x1000)
channel.swap("ready")
if verbs.is_server:
    time.sleep(0.5)
    qps[2].close()
else:
    taken = []
    for turn in range(12):
        for index, qp in enumerate(qps):
            verbs.send(qp, mr, 3000, 10 * turn + index, e.IBV_WR_RDMA_WRITE, theirs["memory"])
        time.sleep(0.1)
        taken += end.completions(4, 0.1)
    verbs.report(taken + end.completions(48 - len(taken), 2))
channel.swap("done")
