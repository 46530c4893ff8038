"""WRITEs of 64 bytes to 64 KiB, each twice as long as the one before, with a path MTU of 4096."""
import pyverbs.enums as e
import verbs

end = verbs.End()
mr = end.memory(65536)
qp = end.queue_pair()
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num, "memory": [mr.buf, mr.rkey]})
end.connect(qp, theirs["gid"], theirs["qpn"], sq_psn=0x7000, rq_psn=0x7000, path_mtu=e.IBV_MTU_4096)
channel.swap("ready")
if not verbs.is_server:
    taken = []
    for power in range(6, 17):
        verbs.send(qp, mr, 2 ** power, power, e.IBV_WR_RDMA_WRITE, theirs["memory"])
        taken += end.completions(1)
        if not taken or taken[-1].status != e.IBV_WC_SUCCESS:
            break
    verbs.report(taken)
channel.swap("done")
