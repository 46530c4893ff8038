"""A memory window with its own key. The client WRITEs six times with it; with B_MOVE, the server binds the window anew after three."""
from common_end import *
from pyverbs.mr import MWBind

link, end = Link(), End()
window = MW(end.pd, 1) if is_server else None
peer = link.swap(**end.address())
end.init()
end.rtr(peer)
end.rts(timeout=18)


def bind(at):
    end.qp.bind_mw(window, MWBind(MWBindInfo(end.mr, end.mr.buf + at, 8192, WRITE | READ), e.IBV_SEND_SIGNALED))
    end.done()


if is_server:
    bind(4096)
    link.tell(key=window.rkey)
    link.hear()
    if 'B_MOVE' in os.environ:
        bind(32768)
    link.tell()
    link.hear()
    window.close()
else:
    peer['rkey'] = link.hear()['key']
    for i in range(6):
        if i == 3:
            link.swap()
        end.write(peer, wr_id=i, length=2000, at=4096)
        end.done()
    link.tell()
