"""The client arms its completion queue after the completion came, and waits for an event."""
from common_end import *

end, peer, link = pair(receives=8 if is_server else 0, events=not is_server)
if is_server:
    link.hear()
else:
    end.send(length=500)
    time.sleep(0.5)
    end.cq.req_notify()
    end.channel.get_cq_event(end.cq)
    end.done()
