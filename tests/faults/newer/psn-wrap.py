"""WRITEs and READs of 64 KiB whose PSNs pass 0xffffff in both directions."""
from common_end import *

link, end = Link(), End(size=65536)
end.psn = 0xfffff6 if is_server else 0xfffff9
peer = link.swap(**end.address())
end.init()
end.rtr(peer, mtu=4096)
end.rts()
link.swap()
for i in range(3):
    end.write(peer, wr_id=2 * i, length=65536)
    end.done()
    end.read(peer, wr_id=2 * i + 1, length=30000)
    end.done()
link.swap()
