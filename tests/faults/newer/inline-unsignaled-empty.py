"""SENDs inline, one of eight signaled, some of them empty, and WRITEs with immediate data of no bytes."""
from common_end import *

end, peer, link = pair(rts={'timeout': 18}, receives=48 if is_server else 0, length=256, inline=128)
if is_server:
    end.done(48, 20)
else:
    for i in range(48):
        flags = INLINE | (SIGNALED if i % 8 == 7 else 0)
        if i % 6 == 5:
            end.post(e.IBV_WR_RDMA_WRITE_WITH_IMM, wr_id=i, length=0, to=peer, imm=i, flags=flags & ~INLINE)
        else:
            end.send(wr_id=i, length=0 if i % 3 == 2 else 100, flags=flags if i % 3 != 2 else flags & ~INLINE)
        if i % 8 == 7:
            end.done()
link.swap()
