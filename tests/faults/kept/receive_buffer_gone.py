"""The server deregisters the buffer of the receives that it has posted."""
import verbs

end = verbs.End()
mr = end.memory(4096)
qp = end.queue_pair()
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num})
end.connect(qp, theirs["gid"], theirs["qpn"], sq_psn=0x4000, rq_psn=0x4000)
if verbs.is_server:
    for number in range(8):
        verbs.receive(qp, mr, 4096, number)
    mr.close()
channel.swap("ready")
if not verbs.is_server:
    for number in range(4):
        verbs.send(qp, mr, 2500, number)
verbs.report(end.completions(4, 3))
channel.swap("done")
