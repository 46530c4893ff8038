"""SENDs of 20000 bytes from four pieces, with a path MTU of 256."""
from common_end import *

end, peer, link = pair(rtr={'mtu': 256}, rts={'timeout': 18}, receives=8 if is_server else 0, length=20000, sges=4)
if is_server:
    end.done(8, 30)
else:
    for i in range(8):
        end.send(wr_id=i, length=20000, pieces=4)
        end.done(1, 15)
link.swap()
