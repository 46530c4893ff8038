// Packets whose loss a router or the peer reported (ICMP), or whose destination nobody resolved (ARP, neighbour
// discovery).
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

Cause cause_of(const Case& one, const Seen& lost, const Dropped& dropped) {
    constexpr unsigned initial = 32;  // hosts send with 64 or more
    const std::string by = one.whole.logs.name_of(dropped.by, dropped.network);
    const unsigned hop_limit = lost.hop_limit;
    // An unreliable transport loses single packets without a failure: the responder's host may send later.
    const auto certain = [&](Code code, std::string text) {
        if (one.direction.is_reliable())
            return silent_cause(one, code, Certainty::Certain, std::move(text));
        Cause cause = one.cause(code, Certainty::Certain, std::move(text));
        cause.is_fatal = !one.is_responder_alive(dropped.frame);
        cause.add(evidence(lost));
        return cause;
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

// The newest request before the report; nullptr: none.
const Seen* lost_request(const Case& one, const Dropped& dropped) {
    if (one.direction.is_reliable())
        return one.course.silent->frame < dropped.frame ? one.course.silent : nullptr;
    const auto& requests = one.direction.requests;
    const auto last =
        std::ranges::find_if(requests.rbegin(), requests.rend(),
                             [&](const Seen* request) { return request->frame < dropped.frame; });
    return last == requests.rend() ? nullptr : *last;
}

// The requester's host, or a router, no longer finds the responder's host.
bool explain_unresolved_host(const Case& one, Causes& causes) {
    constexpr std::uint64_t least = 3;  // Linux asks three times
    const flow::StreamKey& key = one.direction.stream->key;
    const Notices* asked = one.whole.traffic.unresolved(key.dst);
    if (!one.direction.is_reliable() || asked == nullptr || asked->count < least ||
        asked->first.frame < one.course.silent->frame || one.is_responder_alive(asked->first.frame))
        return false;
    // A capture without any packet of a host may lack its replies.
    Cause cause = silent_cause(
        one, Code::PathBroken,
        one.course.last_answer == nullptr ? Certainty::Possible : Certainty::Likely,
        fmt::format("nobody replied to {} {} requests for {}: its host is down, or was separated "
                    "from the network{}.",
                    asked->count, key.dst.is_ipv4() ? "ARP" : "NDP",
                    flow::text(key.dst, key.network),
                    one.course.last_answer == nullptr ? ", or the capture lacks its packets" : ""));
    cause.add(asked->first);
    cause.try_this =
        one.course.last_answer == nullptr
            ? "Check whether the host is up and has this address; a capture at it shows "
              "whether the requests arrive."
            : "";
    causes.push_back(std::move(cause));
    return true;
}

}  // namespace

bool explain_reported(const Case& one, Causes& causes) {
    if (one.direction.stream == nullptr)
        return false;
    const KeptStream& stream = *one.direction.stream;
    for (const Dropped& dropped : one.whole.traffic.dropped()) {
        if (dropped.src != stream.key.src || dropped.dst != stream.key.dst ||
            dropped.network != stream.key.network || dropped.src_port != stream.src_port)
            continue;
        const Seen* lost = lost_request(one, dropped);
        if (lost == nullptr)
            continue;
        Cause cause = cause_of(one, *lost, dropped);
        cause.add(evidence(dropped));
        causes.push_back(std::move(cause));
        return true;
    }
    return explain_unresolved_host(one, causes);
}

}  // namespace explain
