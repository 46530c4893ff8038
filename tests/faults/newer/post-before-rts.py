"""The client forgets the step to RTS, and posts in RTR."""
from common_end import *

link, end = Link(), End()
peer = link.swap(**end.address())
end.init()
end.receive()
end.rtr(peer)
if is_server:
    end.rts()
    end.send()
    end.done()
link.swap()
if is_server:
    link.hear()
else:
    end.done()  # the server's
    end.send()
    end.done()
