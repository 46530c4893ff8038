"""Both programs sleep until a completion queue signals its channel, 12 requests and replies. One of three has a pause before it."""
from common_end import *

end, peer, link = pair(rts={'timeout': 18}, receives=32, length=512, events=True)


def wait(kind):
    """The next completion of a receive (or a send); the queue was armed before."""
    while True:
        number, completions = end.cq.poll(1)
        if number:
            wc = completions[0]
            if wc.status:
                fail('status', wc.status)
            if (wc.opcode & 128) == kind:
                return
            continue
        end.channel.get_cq_event(end.cq)
        end.cq.ack_events(1)
        end.cq.req_notify()


end.cq.req_notify()
link.swap()
for i in range(12):
    if is_server:
        wait(128)
        end.send(wr_id=i, length=200, flags=SIGNALED | SOLICITED)
    else:
        if i % 3 == 0:
            time.sleep(0.4)
        end.send(wr_id=i, length=300, flags=SIGNALED)
        wait(128)
link.swap()
