"""The client reads the three bytes of the server's queue pair number in the wrong order."""
from common_end import *

link, end = Link(), End()
peer = link.swap(**end.address())
if not is_server:
    peer['qpn'] = int.from_bytes(peer['qpn'].to_bytes(3, 'big'), 'little')
end.init()
if is_server:
    end.receive()
end.rtr(peer)
end.rts(timeout=14, retries=4)
link.swap()
if is_server:
    end.done(1, 10)
else:
    end.send(length=400)
    end.done(1, 10)
