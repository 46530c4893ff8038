#include "trace/timeline/log_file.hpp"

#include <algorithm>
#include <utility>

namespace timeline {

std::optional<runlog::Event> LogFile::parse() {
    auto event = tail_.next();
    if (!event)
        return std::nullopt;
    if (std::ranges::find(roles_, event->role) == roles_.end())
        roles_.push_back(event->role);
    pairs_.learn(*event);
    return event;
}

void LogFile::read_ahead() {
    while (auto event = parse())
        ahead_.push_back(*std::move(event));
}

std::optional<runlog::Event> LogFile::next() {
    std::optional<runlog::Event> event;
    if (ahead_.empty()) {
        event = parse();
    } else {
        event = std::move(ahead_.front());
        ahead_.pop_front();
    }
    if (event)
        event->role = name_of(event->role);
    return event;
}

}  // namespace timeline
