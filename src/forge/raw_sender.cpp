#include "forge/raw_sender.hpp"

#include <cerrno>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include "forge/lab_only.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "wire/packet.hpp"

namespace forge {
namespace {

// Protocol 0: this socket receives nothing.
int open_socket() {
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd < 0 && (errno == EPERM || errno == EACCES))
        throw util::Error(
            "not allowed to send packets of its own making: this step needs root, which it has in "
            "the lab's guests. Run it with lab/lab capture 09.");
    return util::check_errno(fd, "socket(AF_PACKET)");
}

}  // namespace

RawSender::RawSender() : socket_(open_socket()) {}

void RawSender::use(const std::string& interface) {
    const unsigned index = if_nametoindex(interface.c_str());
    if (index == 0)
        util::throw_system_error(errno, "if_nametoindex(" + interface + ")");
    interface_ = static_cast<int>(index);
}

void RawSender::send(util::Bytes frame) {
    require_lab(wire::decode(frame, wire::LinkType::Ethernet));
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = interface_;
    while (sendto(socket_.get(), frame.data(), frame.size(), 0,
                  reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
        if (errno != EINTR)
            util::throw_system_error(errno, "sendto(AF_PACKET)");
}

}  // namespace forge
