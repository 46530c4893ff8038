"""Datagrams: the server replies to the destination of the request's GRH, which is itself, in place of the source."""
from common_end import *

link, end = Link(), End(kind=UD)
peer = link.swap(**end.address())
end.init()
for i in range(8):
    end.receive(i)
end.rtr(peer)
end.rts()
link.swap()
if is_server:
    end.done(1)
    ah = AH(end.pd, attr=end.handle(end.gid))
    for i in range(3):
        end.datagram(ah, peer['qpn'], length=200)
        time.sleep(0.2)
    link.hear()
else:
    ah = AH(end.pd, attr=end.handle(peer['gid']))
    end.datagram(ah, peer['qpn'], length=200)
    end.done(2, 6)
