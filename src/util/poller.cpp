#include "util/poller.hpp"

#include <cerrno>

#include "util/check.hpp"

namespace util {
namespace {

epoll_event event_of(std::uint32_t events, std::uint64_t key) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    return event;
}

}  // namespace

Poller::Poller() : fd_(CHECK_ERRNO(epoll_create1(EPOLL_CLOEXEC))) {}

void Poller::add(int fd, std::uint32_t events, std::uint64_t key) {
    epoll_event event = event_of(events, key);
    check_errno(epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl(EPOLL_CTL_ADD)");
}

void Poller::change(int fd, std::uint32_t events, std::uint64_t key) {
    epoll_event event = event_of(events, key);
    check_errno(epoll_ctl(fd_.get(), EPOLL_CTL_MOD, fd, &event), "epoll_ctl(EPOLL_CTL_MOD)");
}

void Poller::remove(int fd) {
    check_errno(epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr), "epoll_ctl(EPOLL_CTL_DEL)");
}

std::span<const Poller::Event> Poller::wait(Deadline deadline) {
    std::array<epoll_event, most> events{};
    const int count = epoll_wait(fd_.get(), events.data(), static_cast<int>(events.size()),
                                 poll_timeout(deadline));
    if (count < 0 && errno == EINTR)
        return {};
    check_errno(count, "epoll_wait");
    const auto found = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < found; ++i)
        ready_[i] = {events[i].data.u64, events[i].events};
    return std::span(ready_).first(found);
}

}  // namespace util
