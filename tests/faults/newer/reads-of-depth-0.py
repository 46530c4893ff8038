"""The client sets max_rd_atomic 0. It WRITEs, and then waits for a READ that its device may not send."""
from common_end import *

end, peer, link = pair(rts={'reads': 0})
if is_server:
    link.hear()
else:
    end.write(peer, wr_id=1, length=2000)
    end.done()
    end.read(peer, wr_id=2, length=2000)
    end.done(1, 6)
