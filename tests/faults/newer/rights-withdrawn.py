"""The server takes the right to WRITE from its queue pair while the client WRITEs."""
from common_end import *

end, peer, link = pair()
if is_server:
    time.sleep(1)
    attr = QPAttr(qp_state=e.IBV_QPS_RTS)
    attr.qp_access_flags = LOCAL | READ
    end.qp.modify(attr, e.IBV_QP_ACCESS_FLAGS)
    link.hear()
else:
    for i in range(40):
        end.write(peer, wr_id=i, length=1500)
        end.done()
        time.sleep(0.1)
