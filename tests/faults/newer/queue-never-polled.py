"""The client posts WRITEs to a far server and never polls."""
from common_end import *

end, peer, link = pair(rts={'timeout': 18}, depth=12, cqe=1024)
if is_server:
    link.hear()
else:
    for i in range(300):
        end.write(peer, wr_id=i, length=200)
