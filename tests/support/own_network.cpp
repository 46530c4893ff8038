#include "support/own_network.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace support {

OwnNetwork::OwnNetwork() : before_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (!before_ || unshare(CLONE_NEWNET) != 0) {
        before_ = {};
        return;
    }
    const util::Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq loopback{};
    std::string_view("lo").copy(loopback.ifr_name, IFNAMSIZ - 1);
    loopback.ifr_flags = IFF_UP;
    if (!any || ioctl(any.get(), SIOCSIFFLAGS, &loopback) != 0)
        std::perror("the loopback interface of the test's network does not come up");
}

OwnNetwork::~OwnNetwork() {
    if (before_ && setns(before_.get(), CLONE_NEWNET) != 0) {
        std::perror("the tests cannot go back to their network");
        std::abort();
    }
}

}  // namespace support
