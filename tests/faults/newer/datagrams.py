"""The client sends 60 datagrams, 10 ms apart. The server has 64 receives (20 with B_FEW in its environment) and waits for all."""
from common_end import *

link, end = Link(), End(kind=UD)
peer = link.swap(**end.address())
end.init()
for i in range(20 if 'B_FEW' in os.environ else 64):
    end.receive(i)
end.rtr(peer)
end.rts()
ah = AH(end.pd, attr=end.handle(peer['gid']))
link.swap()
if is_server:
    end.done(60, 8)
else:
    for i in range(60):
        end.datagram(ah, peer['qpn'], length=300)
        end.done()
        time.sleep(0.01)
    link.hear()
