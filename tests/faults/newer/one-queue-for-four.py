"""Four queue pairs share a completion queue of 10 entries; 12 WRITEs of each complete before the program polls."""
from common_end import *

link, ends = Link(), []
for i in range(4):
    ends.append(End(cqe=10, share=ends[0] if ends else None))
peers = [link.swap(**end.address()) for end in ends]
for end, peer in zip(ends, peers):
    end.init()
    end.rtr(peer)
    end.rts(timeout=18)
link.swap()
if is_server:
    link.hear()
else:
    for i in range(12):
        for end, peer in zip(ends, peers):
            end.write(peer, wr_id=i, length=300)
    time.sleep(1)
    ends[0].done(48, 5)
