#include "emulator/switch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace emulator {
namespace {

// Keys of the poller: a host's index, or watched_key plus the descriptor for other descriptors.
constexpr std::uint64_t watched_key = std::uint64_t{1} << 32U;
constexpr std::chrono::milliseconds recorded_after{100};

std::vector<std::string> names_of(const std::vector<Port>& ports) {
    std::vector<std::string> host_names;
    host_names.reserve(ports.size());
    for (const Port& port : ports)
        host_names.push_back(port.name());
    return host_names;
}

capture::Time now_of_day() {
    return std::chrono::duration_cast<capture::Time>(
        std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

Switch::Switch(std::vector<Port> ports, std::function<void(const std::string&)> say)
    : ports_(std::move(ports)),
      lines_(ports_.size()),
      say_(std::move(say)),
      stage_(names_of(ports_)),
      recorder_(names_of(ports_)) {
    for (Host host = 0; host < ports_.size(); ++host)
        connect(host);
}

void Switch::watch(int fd, std::function<void()> on_ready) {
    watched_.emplace_back(fd, std::move(on_ready));
    poller_.add(fd, EPOLLIN, watched_key + static_cast<std::uint64_t>(fd));
}

void Switch::unwatch(int fd) {
    poller_.remove(fd);
    std::erase_if(watched_, [fd](const auto& watched) { return watched.first == fd; });
}

void Switch::run(util::StopSignal& stop) {
    watch(stop.fd(), [] {});
    while (!stop.requested()) {
        for (const util::Poller::Event& event : poller_.wait(next())) {
            if (event.key < watched_key) {
                ready(static_cast<Host>(event.key), event.events);
                continue;
            }
            const int fd = static_cast<int>(event.key - watched_key);
            const auto watched =
                std::ranges::find(watched_, fd, [](const auto& entry) { return entry.first; });
            // Call a copy: the callback may call unwatch().
            if (watched != watched_.end())
                std::function(watched->second)();
        }
        const auto now = util::Clock::now();
        stage_.release(now, *this);
        load_.update(crossed_, now);
        check_deadlines();
        for (Host host = 0; host < ports_.size(); ++host)
            flush(host);
        set_interest();
    }
    unwatch(stop.fd());
    stage_.release(util::Clock::time_point::max(), *this);
    for (Host host = 0; host < ports_.size(); ++host)
        flush(host);
    recorder_.stop();
}

void Switch::ready(Host host, std::uint32_t events) {
    Port& port = ports_.at(host);
    if (!port.is_connected() || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    try {
        const bool is_there = port.receive([&](util::Bytes frame) {
            const ReceivedFrame arrival{now_of_day(), host, macs_.learn(frame, host), frame};
            // The destination is at the sender's own port, as with a hub: do not forward.
            if (arrival.to != host)
                stage_.take(arrival, util::Clock::now(), *this);
        });
        if (!is_there)
            lost(host, "has disconnected");
    } catch (const NotFrames& error) {
        lost(host, fmt::format("sent an invalid frame ({})", error.what()));
    }
}

std::uint64_t Switch::arrived(const ReceivedFrame& arrival, bool is_roce,
                              const std::vector<RuleEvent>& events) {
    const std::uint64_t number = recorder_.before(arrival, is_roce, events);
    if (recorder_.is_recording() && !deadlines_.has({Wait::Flush, 0}))
        deadlines_.set({Wait::Flush, 0}, util::deadline_in(recorded_after));
    return number;
}

void Switch::acted(const Sent& sent, const RuleEvent& event) {
    // At the end, what is held is released before its time.
    RuleEvent done = event;
    done.time = std::min(event.time, now_of_day());
    recorder_.acted(sent, done);
}

void Switch::leaves(Host from, std::optional<Host> to, util::Bytes bytes, bool is_roce) {
    crossed_ += bytes.size();
    if (recorder_.is_recording())
        recorder_.after(now_of_day(), from, to, bytes, is_roce);
    for (Host host = 0; host < ports_.size(); ++host) {
        if (host == from || (to && *to != host))
            continue;
        ports_[host].send(bytes);
        if (lines_[host].is_stuck)
            ports_[host].drop_backlog();
    }
}

void Switch::flush(Host host) {
    Port& port = ports_[host];
    if (!port.is_connected())
        return;
    const std::size_t before = port.backlog();
    if (!port.flush())
        return lost(host, "has disconnected");
    if (port.backlog() < before || port.backlog() == 0) {
        if (std::exchange(lines_[host].is_stuck, false))
            say_(fmt::format("{} accepts frames again", port.name()));
        deadlines_.clear({Wait::Unstick, host});
    }
    if (port.backlog() > backlog_limit && !lines_[host].is_stuck &&
        !deadlines_.has({Wait::Unstick, host}))
        deadlines_.set({Wait::Unstick, host}, util::deadline_in(silence_limit));
}

bool Switch::is_congested_for(Host from) const {
    if (stage_.held_bytes() > held_limit)
        return true;
    for (Host host = 0; host < ports_.size(); ++host)
        if (host != from && !lines_[host].is_stuck && ports_[host].backlog() > backlog_limit)
            return true;
    return false;
}

void Switch::set_interest() {
    for (Host host = 0; host < ports_.size(); ++host) {
        if (!ports_[host].is_connected())
            continue;
        const std::uint32_t wanted = (is_congested_for(host) ? 0U : unsigned{EPOLLIN}) |
                                     (ports_[host].backlog() > 0 ? unsigned{EPOLLOUT} : 0U);
        if (std::exchange(lines_[host].interest, wanted) != wanted)
            poller_.change(ports_[host].fd(), wanted, host);
    }
}

void Switch::connect(Host host) {
    Port& port = ports_[host];
    if (port.connect()) {
        lines_[host] = {EPOLLIN, false};
        poller_.add(port.fd(), EPOLLIN, host);
        say_(fmt::format("{} is connected", port.name()));
    } else {
        deadlines_.set({Wait::Connect, host}, util::deadline_in(between_tries));
    }
}

void Switch::lost(Host host, const std::string& why) {
    say_(fmt::format("{} {}", ports_[host].name(), why));
    poller_.remove(ports_[host].fd());
    ports_[host].disconnect();
    macs_.forget(host);
    deadlines_.clear({Wait::Unstick, host});
    deadlines_.set({Wait::Connect, host}, util::deadline_in(between_tries));
}

util::Deadline Switch::next() const {
    const util::Deadline own = deadlines_.nearest();
    const util::Deadline held = stage_.next();
    return !own || (held && *held < *own) ? held : own;
}

void Switch::check_deadlines() {
    while (const auto past = deadlines_.take_past(util::Clock::now())) {
        const auto [wait, host] = *past;
        if (wait == Wait::Connect) {
            connect(host);
        } else if (wait == Wait::Flush) {
            recorder_.flush();
        } else {
            say_(fmt::format(
                "{} has accepted no frame for {} s: frames to it are dropped until it does",
                ports_[host].name(), silence_limit.count()));
            lines_[host].is_stuck = true;
            ports_[host].drop_backlog();
        }
    }
}

}  // namespace emulator
