"""The server sends its rkey with htonl, the client does not convert it back."""
from common_end import *

end, peer, link = pair()
if is_server:
    link.hear()
else:
    key = int.from_bytes(peer['rkey'].to_bytes(4, 'big'), 'little')
    end.write({**peer, 'rkey': key}, wr_id=8, length=3000)
    end.done()
