"""After three messages in each direction, each program waits for the other's next one."""
from common_end import *

end, peer, link = pair(rts={'timeout': 18}, receives=8)
for i in range(3):
    end.send(wr_id=i, length=700)
    end.done(2)
end.done(1, 8)
