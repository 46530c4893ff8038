"""Each end takes its own first PSN for that of the peer, too."""
import pyverbs.enums as e
import verbs

end = verbs.End()
mr = end.memory(4096)
qp = end.queue_pair()
channel = verbs.Channel()
psn = 0x900 if verbs.is_server else 0x100
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num, "psn": psn, "memory": [mr.buf, mr.rkey]})
end.connect(qp, theirs["gid"], theirs["qpn"], sq_psn=psn, rq_psn=psn)
channel.swap("ready")
if not verbs.is_server:
    mr.write("written", 7)
    for number in range(4):
        verbs.send(qp, mr, 7, number, e.IBV_WR_RDMA_WRITE, theirs["memory"])
    verbs.report(end.completions(4))
channel.swap("done")
if verbs.is_server:
    print("result: memory", "changed" if mr.read(7, 0) == b"written" else "unchanged")
