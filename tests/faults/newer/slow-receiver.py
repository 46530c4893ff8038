"""The server posts a receive every 300 ms; the client's rnr_retry is 7."""
from common_end import *

end, peer, link = pair(rtr={'rnr_timer': 14}, rts={'timeout': 18}, receives=1 if is_server else 0)
link.swap()
for i in range(8):
    if is_server:
        end.done(1, 15)
        time.sleep(0.3)
        end.receive(i + 1)
    else:
        end.send(wr_id=i, length=1800)
        end.done(1, 15)
link.swap()
