// Packets whose loss a router or the peer reported (ICMP).
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

Cause cause_of(const Case& one, const Dropped& dropped) {
    constexpr unsigned initial = 32;  // hosts send with 64 or more
    const std::string by = one.whole.logs.name_of(dropped.by, dropped.network);
    const unsigned hop_limit = one.course.silent->hop_limit;
    const auto certain = [&](Code code, std::string text) {
        return silent_cause(one, code, Certainty::Certain, std::move(text));
    };
    switch (dropped.what) {
        case wire::IcmpError::What::TimeExceeded:
            return certain(
                Code::PathBroken,
                fmt::format("the router {} dropped packets because their hop limit ran out: {}.",
                            by,
                            hop_limit < initial
                                ? fmt::format("the capture has them with hop limit {}", hop_limit)
                                : "routers send them in a circle"));
        case wire::IcmpError::What::PortUnreachable:
            return certain(
                Code::WrongGid,
                fmt::format("{} has no RoCE device: it reports that UDP port 4791 is unreachable.",
                            by));
        case wire::IcmpError::What::TooBig:
            return certain(
                Code::LargePacketsLost,
                fmt::format(
                    "the router {} dropped packets that are larger than the MTU of the next "
                    "link{}.",
                    by, dropped.mtu == 0 ? "" : fmt::format(", {} bytes", dropped.mtu)));
        case wire::IcmpError::What::Unreachable:
            break;
    }
    return certain(
        Code::PathBroken,
        fmt::format("{} dropped packets and reports that the destination is unreachable.", by));
}

}  // namespace

bool explain_reported(const Case& one, Causes& causes) {
    if (one.direction.stream == nullptr)
        return false;
    const KeptStream& stream = *one.direction.stream;
    const auto& dropped = one.whole.traffic.dropped();
    const auto found = std::ranges::find_if(dropped, [&](const Dropped& packet) {
        return packet.src == stream.key.src && packet.dst == stream.key.dst &&
               packet.network == stream.key.network && packet.src_port == stream.src_port &&
               packet.frame > one.course.silent->frame;
    });
    if (found == dropped.end())
        return false;
    Cause cause = cause_of(one, *found);
    cause.add(evidence(*found));
    causes.push_back(std::move(cause));
    return true;
}

}  // namespace explain
