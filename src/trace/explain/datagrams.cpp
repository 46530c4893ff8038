// Datagrams dropped by the receiver.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {

void explain_datagrams(const Case& one, Causes& causes) {
    const Direction& direction = one.direction;
    if (!direction.is_datagram() || direction.dest_qpn == 0xffffff)
        return;
    const std::string& role = direction.responder_role;
    if (direction.responder == nullptr) {
        if (role.empty() || !one.whole.logs.is_whole(role) || direction.requests.empty())
            return;
        Cause cause = one.cause(
            Code::WrongQpn, Certainty::Certain,
            fmt::format("{} has no queue pair {:#08x}.", spoken(direction.to), direction.dest_qpn));
        cause.is_fatal = true;
        cause.add(evidence(*direction.requests.front()));
        causes.push_back(std::move(cause));
        return;
    }
    const auto wrong = std::ranges::find_if(direction.requests, [&](const Seen* datagram) {
        return direction.responder->q_key && datagram->q_key != *direction.responder->q_key;
    });
    if (wrong == direction.requests.end())
        return;
    Cause cause = one.cause(
        Code::WrongQKey, Certainty::Certain,
        fmt::format("the datagrams have Q_Key {:#010x}, but {} has {:#010x}: it drops them.",
                    (*wrong)->q_key, direction.responder->called(), *direction.responder->q_key));
    cause.is_fatal = true;
    cause.add(evidence(**wrong));
    cause.add(value(role, fmt::format("q_key {:#010x}", *direction.responder->q_key)));
    causes.push_back(std::move(cause));
}

}  // namespace explain
