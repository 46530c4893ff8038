"""The server prepares something for two seconds before its queue pair goes to RTR; the client does not wait for that."""
from common_end import *

link, end = Link(), End()
peer = link.swap(**end.address())
end.init()
if is_server:
    end.receive()
    time.sleep(3)
end.rtr(peer)
end.rts(timeout=14, retries=3)
if is_server:
    end.done(1, 3)
else:
    time.sleep(0.3)
    end.send(length=900)
    end.done()
