"""The server registers its memory anew, with another rkey, and the client goes on with the former one."""
import pyverbs.enums as e
import verbs

end = verbs.End()
buffer = end.memory(16384)
mr = end.memory(16384, address=buffer.buf)
qp = end.queue_pair()
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num, "memory": [mr.buf, mr.rkey]})
end.connect(qp, theirs["gid"], theirs["qpn"], sq_psn=0x3000, rq_psn=0x3000)
channel.swap("ready")
taken = []
for number in range(12):
    if number == 6:
        channel.swap("half")
        if verbs.is_server:
            mr.close()
            mr = end.memory(16384, address=buffer.buf)
        channel.swap("renewed")
    if not verbs.is_server:
        operation = e.IBV_WR_RDMA_READ if number % 2 else e.IBV_WR_RDMA_WRITE
        verbs.send(qp, buffer, 2000, number, operation, theirs["memory"])
        taken += end.completions(1)
        if taken[-1].status != e.IBV_WC_SUCCESS:
            break
if not verbs.is_server:
    verbs.report(taken)
channel.swap("done")
