"""The client fills its buffer for the next SEND as soon as ibv_post_send has returned, on a path with delay."""
from common_end import *

end, peer, link = pair(rtr={'mtu': 1024}, rts={'timeout': 16}, receives=0)
if is_server:
    for i in range(6):
        end.receive(i, 4096 * i, 4096)
link.swap()
if is_server:
    end.done(6, 20)
    for i in range(6):
        content = end.mr.read(3000, 4096 * i)
        if content != bytes([65 + i]) * 3000:
            say('message', i, 'is wrong:', {bytes([c]) for c in content})
else:
    for i in range(6):
        end.mr.write(bytes([65 + i]) * 3000, 3000)
        end.send(wr_id=i, length=3000)
        time.sleep(0.02)
    end.done(6, 20)
link.swap()
