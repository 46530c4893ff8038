"""The client keeps the server's address in 32 bits."""
from common_end import *

end, peer, link = pair()
if is_server:
    link.hear()
else:
    peer['addr'] &= 0xffffffff
    end.read(peer, length=3000)
    end.done()
