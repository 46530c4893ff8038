#include "forge/sniffer.hpp"

#include <fmt/format.h>

#include "util/error.hpp"

namespace forge {

Sniffer::Sniffer(const std::string& interface) : source_({.interface = interface, .filter = {}}) {}

std::vector<Seen> Sniffer::until(const Test& is_last, std::string_view what, util::StopSignal& stop,
                                 util::Deadline deadline) {
    std::vector<Seen> seen;
    while (true) {
        while (const auto frame = source_.next()) {
            seen.push_back({{frame->bytes.begin(), frame->bytes.end()}});
            if (is_last(seen.back().packet()))
                return seen;
        }
        switch (util::wait_readable(source_.fd(), stop, deadline)) {
            case util::Ready::input:
                break;
            case util::Ready::stop:
                throw util::Error(fmt::format("stopped by a signal while waiting for {}.", what));
            case util::Ready::timeout:
                throw util::Error(fmt::format(
                    "{} was not seen in time on the interface. Is the server still running?",
                    what));
        }
    }
}

}  // namespace forge
