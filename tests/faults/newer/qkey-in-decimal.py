"""Datagrams: the server's Q_Key is 11111111, the client's 0x11111111."""
from common_end import *

link, end = Link(), End(kind=UD)
peer = link.swap(**end.address())
end.init(qkey=11111111 if is_server else 0x11111111)
for i in range(8):
    end.receive(i)
end.rtr(peer)
end.rts()
ah = AH(end.pd, attr=end.handle(peer['gid']))
link.swap()
if is_server:
    end.done(1, 6)
else:
    for i in range(4):
        end.datagram(ah, peer['qpn'], length=200)
        end.done()
    link.hear()
