"""Both ends WRITE, READ, SEND and add, at the same time, four of each outstanding."""
from common_end import *

end, peer, link = pair(rtr={'mtu': 2048}, rts={'timeout': 18}, receives=40, length=1000, size=65536)
for i in range(6):
    end.write(peer, wr_id=1, offset=4096, length=9000, at=16384)
    end.read(peer, wr_id=2, offset=32768, length=7000, at=4096)
    end.post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, wr_id=3, offset=49152, length=8, to=peer, at=65528)
    end.send(wr_id=4, offset=50000, length=777)
    end.done(4 + 1, 20)  # and the peer's SEND
link.swap()
