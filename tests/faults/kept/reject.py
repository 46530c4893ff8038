"""A server that refuses the client's ConnectRequest, with a reason in the private data."""
import sys

import pyverbs.cm_enums as ce
import pyverbs.enums as e
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPCap, QPInitAttr

capacity = QPInitAttr(qp_type=e.IBV_QPT_RC, cap=QPCap(max_recv_wr=8))
if sys.argv[1] == "server":
    listener = CMID(creator=AddrInfo(src_service="7480", port_space=ce.RDMA_PS_TCP, flags=ce.RAI_PASSIVE), qp_init_attr=capacity)
    listener.listen()
    listener.get_request().reject(b"version 2 is needed", 19)
else:
    client = CMID(creator=AddrInfo(dst=sys.argv[2], dst_service="7480", port_space=ce.RDMA_PS_TCP), qp_init_attr=capacity)
    try:
        client.connect()
    except PyverbsRDMAError as error:
        print("result:", error)
