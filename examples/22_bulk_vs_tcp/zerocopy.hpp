// Lesson 22: MSG_ZEROCOPY: the kernel sends directly from the program's pages and notifies it when
// they may be reused (Documentation/networking/msg_zerocopy.rst of the kernel).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/tcp.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace lesson22 {

/// Counts the completed send calls with MSG_ZEROCOPY.
class Notifications {
  public:
    explicit Notifications(const net::Socket& socket) : socket_(socket) {}

    std::uint64_t done() const { return done_; }
    /// Number of those that the kernel copied anyway.
    std::uint64_t copied() const { return copied_; }

    /// Reads all pending notifications. A notification covers a range of calls, numbered from 0.
    void take() {
        while (true) {
            alignas(cmsghdr) std::array<char, 128> control{};
            msghdr message{};
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            if (recvmsg(socket_.fd.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
                return;
            for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c))
                if ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
                    (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR)) {
                    sock_extended_err error{};
                    std::memcpy(&error, CMSG_DATA(c), sizeof error);
                    if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
                        continue;
                    const std::uint64_t calls = error.ee_data - error.ee_info + 1;
                    done_ += calls;
                    if ((error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0)
                        copied_ += calls;
                }
        }
    }

  private:
    const net::Socket& socket_;
    std::uint64_t done_ = 0;
    std::uint64_t copied_ = 0;
};

/// Supported since Linux 4.14, for IPv4 and IPv6 alike.
inline bool has_zerocopy() {
    const util::Fd fd(CHECK_ERRNO(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    const int on = 1;
    return setsockopt(fd.get(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) == 0;
}

}  // namespace lesson22
