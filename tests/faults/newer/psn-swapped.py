"""The server reads the three bytes of the client's first PSN in the wrong order. What it then expects is ahead of what is sent, so it acknowledges with a PSN of its own."""
from common_end import *

link, end = Link(), End()
if not is_server:
    end.psn = 0x000123
peer = link.swap(**end.address())
if is_server:
    peer['psn'] = int.from_bytes(peer['psn'].to_bytes(3, 'big'), 'little')
end.init()
for i in range(5 if is_server else 0):
    end.receive(i)
end.rtr(peer)
end.rts()
link.swap()
if is_server:
    end.done(5, 6)
else:
    for i in range(5):
        end.send(wr_id=i, length=600)
        end.done()
    say('all five were sent')
    link.hear()
