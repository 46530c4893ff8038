"""The server's region is for READs. The client READs from it twice, changes the data, and WRITEs them back."""
from common_end import *

end, peer, link = pair(access=(LOCAL | READ) if is_server else ALL)
if is_server:
    link.hear()
else:
    for i in range(2):
        end.read(peer, wr_id=i, length=2500)
        end.done()
    end.write(peer, wr_id=2, length=2500)
    end.done()
