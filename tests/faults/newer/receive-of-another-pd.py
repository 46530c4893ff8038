"""The server's receives have the lkey of a region of another protection domain."""
from common_end import *

end, peer, link = pair()
if is_server:
    pd = PD(end.context)
    other = MR(pd, 4096, ALL)
    end.receive(1, mr=other)
    link.tell()
    end.done()
else:
    link.hear()
    end.send(length=500)
    end.done()
