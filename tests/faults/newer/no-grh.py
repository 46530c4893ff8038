"""The client's address handle has is_global 0, as on InfiniBand. RoCE needs the global route."""
from common_end import *

link, end = Link(), End()
peer = link.swap(**end.address())
end.init()
if not is_server:
    time.sleep(0.5)
end.rtr(peer, is_global=is_server)
end.rts()
if is_server:
    end.send()
    end.done(1, 5)
