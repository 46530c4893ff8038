// Waits for many descriptors. Source: epoll(7), level-triggered.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <sys/epoll.h>

#include "util/fd.hpp"
#include "util/stop_signal.hpp"

namespace util {

class Poller {
  public:
    Poller();

    /// `events`: EPOLLIN and EPOLLOUT; errors and hang-ups are always reported. `key`: the caller's
    /// name for the descriptor. The caller keeps ownership. Throws std::system_error.
    void add(int fd, std::uint32_t events, std::uint64_t key);
    void change(int fd, std::uint32_t events, std::uint64_t key);
    void remove(int fd);

    struct Event {
        std::uint64_t key;
        std::uint32_t events;
    };
    static constexpr std::size_t most = 64;
    /// Returns up to `most` ready descriptors; none if the deadline has passed or a signal
    /// interrupted the wait. Valid until the next call.
    std::span<const Event> wait(Deadline deadline);

  private:
    Fd fd_;
    std::array<Event, most> ready_{};
};

}  // namespace util
