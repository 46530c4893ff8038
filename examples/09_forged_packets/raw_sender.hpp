// Lesson 09, the attacker: sends raw frames to an interface with packet(7), bypassing the kernel's
// RDMA stack.
#pragma once

#include <cerrno>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string>
#include <sys/socket.h>

#include "lab_only.hpp"
#include "util/check.hpp"
#include "util/cursor.hpp"
#include "util/fd.hpp"

namespace lesson09 {

class RawSender {
  public:
    /// Opens the socket. Throws util::Error without root or CAP_NET_RAW, std::system_error
    /// otherwise.
    RawSender() : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
        // Protocol 0: the socket receives nothing.
        if (!socket_ && (errno == EPERM || errno == EACCES))
            throw util::Error(
                "not allowed to send raw packets: this lesson needs root. In the lab it has root: "
                "run lab/lab capture 09.");
        util::check_errno(socket_.get(), "socket(AF_PACKET)");
    }

    /// Selects the outgoing interface. Throws std::system_error if it does not exist.
    void use(const std::string& interface) {
        const unsigned index = if_nametoindex(interface.c_str());
        if (index == 0)
            util::throw_system_error(errno, "if_nametoindex(" + interface + ")");
        interface_ = static_cast<int>(index);
    }

    /// Sends a complete Ethernet frame without FCS, unchanged. Throws util::Error, and sends
    /// nothing, unless require_lab() accepts the decoded frame. Throws std::system_error if the
    /// frame exceeds the interface's MTU or the interface is down.
    void send(util::Bytes frame) {
        require_lab(wire::decode(frame, wire::LinkType::Ethernet));
        sockaddr_ll to{};
        to.sll_family = AF_PACKET;
        to.sll_ifindex = interface_;
        while (sendto(socket_.get(), frame.data(), frame.size(), 0,
                      reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0)
            if (errno != EINTR)
                util::throw_system_error(errno, "sendto(AF_PACKET)");
    }

  private:
    util::Fd socket_;
    int interface_ = 0;
};

}  // namespace lesson09
