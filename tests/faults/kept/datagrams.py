"""UD. The last word is the fault: grh (receives have no room for the GRH), long (above the path MTU) or qkey."""
import sys

import pyverbs.enums as e
import verbs
from pyverbs.addr import AH
from pyverbs.wr import SGE, SendWR

fault = sys.argv[-1]
length = 6000 if fault == "long" else 1024
room = length if fault == "grh" else length + 40
qkey = 0x5eed
end = verbs.End()
mr = end.memory(8192)
qp = end.queue_pair(e.IBV_QPT_UD)
attr = end.attributes(qkey=0xbeef if fault == "qkey" and verbs.is_server else qkey, sq_psn=0x6000)
qp.to_rts(attr)
if verbs.is_server:
    for number in range(8):
        verbs.receive(qp, mr, room, number)
channel = verbs.Channel()
theirs = channel.swap({"gid": end.gid, "qpn": qp.qp_num})
if not verbs.is_server:
    ah = AH(end.pd, attr=end.address(theirs["gid"]))
    for number in range(8):
        wr = SendWR(wr_id=number, num_sge=1, sg=[SGE(mr.buf, length, mr.lkey)], send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_ud(ah, theirs["qpn"], qkey)
        qp.post_send(wr)
verbs.report(end.completions(8, 3))
channel.swap("done")
