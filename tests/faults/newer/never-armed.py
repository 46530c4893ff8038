"""The server waits for an event of its completion queue, which it never armed; the client waits for a reply."""
from common_end import *

end, peer, link = pair(rts={'timeout': 18}, receives=8, events=is_server)
link.swap()
if is_server:
    end.channel.get_cq_event(end.cq)
    end.done()
    end.send()
    end.done()
else:
    end.send(length=500)
    end.done(2, 8)
