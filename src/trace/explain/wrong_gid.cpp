// Destination GIDs that are not the peer's.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

// The addresses of all roles but this one: "server 192.0.2.1".
std::string other_hosts(const Logs& logs, const std::string& role) {
    std::string others;
    for (const auto& [host, other] : logs.hosts())
        if (other != role)
            others += (others.empty() ? "" : ", ") + other + ' ' + flow::text(host);
    return others;
}

bool has_other_host(const Logs& logs, const flow::Host& host, const std::string& role) {
    const auto found = logs.hosts().find(host);
    return found != logs.hosts().end() && found->second != role;
}

class WrongGid {
  public:
    WrongGid(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    bool explain() { return of_requester() || of_responder(); }

  private:
    Cause& add(std::string text, const LoggedQueuePair& pair) {
        Cause cause = case_.cause(Code::WrongGid, Certainty::Certain, std::move(text));
        cause.is_fatal = true;
        if (!direction_.requests.empty())
            cause.add(evidence(*direction_.requests.front()));
        cause.add(value(pair.role, "destination GID " + pair.dest_gid));
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    // A queue pair drops packets that do not come from its peer's address.
    bool of_responder() {
        if (direction_.responder == nullptr || direction_.stream == nullptr)
            return false;
        const auto expected = flow::host_of_gid(direction_.responder->dest_gid);
        const flow::Host& source = direction_.stream->key.src;
        if (!expected || *expected == source)
            return false;
        add(fmt::format("{} is connected to {}, but the requests come from {}: it drops them.",
                        direction_.responder->called(), flow::text(*expected),
                        flow::text(source, direction_.stream->key.network)),
            *direction_.responder);
        return true;
    }

    // Compares the destination of the requests with the addresses in the other logs.
    bool of_requester() {
        if (direction_.requester == nullptr)
            return false;
        const LoggedQueuePair& requester = *direction_.requester;
        const std::string& role = direction_.requester_role;
        const auto& logs = case_.whole.logs;
        const auto wanted = flow::host_of_gid(requester.dest_gid);
        if (!wanted)
            return false;
        if (logs.role_at(*wanted) == role && !is_connected_to_itself()) {
            add(fmt::format("the requests go to {}, which is the requester's own address.",
                            flow::text(*wanted)),
                requester);
            return true;
        }
        const std::string others = other_hosts(logs, role);
        if (others.empty() || has_other_host(logs, *wanted, role))
            return false;
        add(fmt::format("the requests go to {}, which is not an address of the peer.",
                        flow::text(*wanted)),
            requester)
            .add(value(requester.role, "the other hosts: " + others));
        return true;
    }

    // Connected to another queue pair of the same program.
    bool is_connected_to_itself() const {
        const LoggedQueuePair& requester = *direction_.requester;
        const auto& all = case_.whole.logs.queue_pairs();
        return std::ranges::any_of(all, [&](const LoggedQueuePair& pair) {
            return &pair != &requester && pair.role == requester.role &&
                   pair.qpn == direction_.dest_qpn;
        });
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

// The kernel resolves the address when a queue pair goes to RTR, or when an address handle is made.
bool is_unresolved(const runlog::Event& event) {
    constexpr auto errors =
        std::to_array<std::string_view>({"ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT"});
    return event.is("failed") && event[key::to] == "RTR" &&
           std::ranges::find(errors, event[key::error]) != errors.end();
}

std::string place_of(const runlog::Event& event, const std::vector<Direction>& directions) {
    const auto qpn = event[key::qpn];
    if (!qpn)
        return event.role;
    const auto found = std::ranges::find_if(directions, [&](const Direction& one) {
        return one.requester != nullptr && one.requester->role == event.role &&
               one.requester->qpn == *qpn;
    });
    return found == directions.end() ? fmt::format("{}, QP {:#08x}", event.role, *qpn)
                                     : found->where();
}

}  // namespace

bool explain_wrong_gid(const Case& one, Causes& causes) {
    return WrongGid(one, causes).explain();
}

void explain_unresolved_gids(const Whole& whole, const std::vector<Direction>& directions,
                             Causes& causes) {
    for (const runlog::Event& event : whole.logs.notices()) {
        const auto wanted = flow::host_of_gid(event[key::dest_gid]);
        if (!is_unresolved(event) || !wanted)
            continue;
        const std::string others = other_hosts(whole.logs, event.role);
        const bool is_peers = has_other_host(whole.logs, *wanted, event.role);
        const Notices* asked = whole.traffic.unresolved(*wanted);
        if (others.empty() && asked == nullptr)
            continue;  // see explain_programs()
        Cause& cause = add_fatal(
            causes, Code::WrongGid,
            others.empty() || is_peers ? Certainty::Likely : Certainty::Certain,
            fmt::format("the queue pair cannot reach the destination GID {}: {} ({}).",
                        event[key::dest_gid],
                        is_peers ? "the host that has it did not respond, or no route leads to it"
                        : others.empty()
                            ? "no host has this address, or the host that has it did not respond"
                            : "no log of another host has this address",
                        event[key::error]),
            place_of(event, directions));
        cause.add(evidence(event));
        if (!others.empty())
            cause.add(value(event.role, "the other hosts: " + others));
        if (asked != nullptr) {
            cause.add(asked->first);
            cause.evidence.back().text += fmt::format("  ({}, no reply)", times(asked->count));
        }
    }
}

}  // namespace explain
