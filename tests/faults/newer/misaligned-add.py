"""Fetch-and-add on counters that lie in a packed structure, 12 bytes apart."""
from common_end import *

end, peer, link = pair()
if is_server:
    link.hear()
else:
    for i in range(4):
        end.post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, wr_id=i, length=8, to=peer, at=12 * i)
        end.done()
