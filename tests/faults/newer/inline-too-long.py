"""Inline SENDs of growing size, until one is longer than the queue pair allows."""
from common_end import *

end, peer, link = pair(receives=16 if is_server else 0, inline=128)
if is_server:
    link.hear()
else:
    for i, length in enumerate((16, 64, 128, 1024)):
        end.send(wr_id=i, length=length, flags=INLINE | SIGNALED)
        end.done()
