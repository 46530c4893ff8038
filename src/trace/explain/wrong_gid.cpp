// Destination GIDs that are not the peer's, or that a queue pair cannot reach.
#include <algorithm>
#include <array>
#include <optional>
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

// Whether a log, a packet, or the place of the capture shows another host with this address.
bool is_a_host(const Whole& whole, const flow::Host& host, const std::string& role) {
    const auto found = whole.logs.hosts().find(host);
    return (found != whole.logs.hosts().end() && found->second != role) || whole.place == host ||
           std::ranges::any_of(whole.traffic.cm(),
                               [&](const CmSeen& one) { return one.from == host; }) ||
           std::ranges::any_of(whole.traffic.streams(),
                               [&](const KeptStream& one) { return one.key.src == host; });
}

class WrongGid {
  public:
    WrongGid(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    bool explain() { return of_requester() || of_responder(); }

  private:
    Cause& add(std::string text, const LoggedQueuePair& pair) {
        Cause& cause =
            add_fatal(case_, causes_, Code::WrongGid, Certainty::Certain, std::move(text));
        cause.add(value(pair.role, "destination GID " + pair.dest_gid));
        return cause;
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
        if (others.empty() || is_a_host(case_.whole, *wanted, role))
            return false;
        Cause& cause =
            add(fmt::format("the requests go to {}, which is not an address of the peer.",
                            flow::text(*wanted)),
                requester);
        cause.add(value(requester.role, "the other hosts: " + others));
        // The peer may be a host without a log.
        if (!is_expected_elsewhere())
            cause.certainty = Certainty::Likely;
        return true;
    }

    // Another host's log has the queue pair that is connected to the requester.
    bool is_expected_elsewhere() const {
        const LoggedQueuePair& requester = *direction_.requester;
        const auto& logs = case_.whole.logs;
        const auto all = logs.connected_to(requester.qpn, requester);
        return std::ranges::any_of(all, [&](const LoggedQueuePair* pair) {
            const auto host = flow::host_of_gid(pair->dest_gid);
            return pair->role != requester.role && host && logs.role_at(*host) == requester.role;
        });
    }

    // Connected to another queue pair of the same program.
    bool is_connected_to_itself() const {
        const LoggedQueuePair& requester = *direction_.requester;
        const auto all = case_.whole.logs.find(requester.role, direction_.dest_qpn);
        return std::ranges::any_of(all,
                                   [&](const LoggedQueuePair* pair) { return pair != &requester; });
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

// A queue pair that could not go to RTR. The kernel resolves the destination's address for it.
class FailedRtr {
  public:
    FailedRtr(const Whole& whole, const runlog::Event& event, Causes& causes)
        : whole_(whole),
          event_(event),
          wanted_(flow::host_of_gid(event[key::dest_gid])),
          causes_(causes) {}

    void explain() {
        constexpr auto unreachable =
            std::to_array<std::string_view>({"ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT"});
        const auto index = event_[key::gid_index];
        if (index && whole_.logs.devices().is_empty(event_.role, *index))
            without_entry(*index);
        else if (std::ranges::find(unreachable, event_[key::error]) != unreachable.end())
            wanted_ ? unresolved(*wanted_) : without_host();
        else if (event_[key::error] == "ENODEV")
            without_host();
        else
            families();
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text) {
        Cause& cause = add_fatal(causes_, code, certainty, std::move(text), place());
        cause.add(evidence(event_));
        return cause;
    }

    // That of the queue pair's requests, so that the cause is listed with others of them.
    std::string place() const {
        const LoggedQueuePair* pair = whole_.logs.pair_at(event_);
        return pair == nullptr ? event_.role : whole_.where_of(*pair, /*as_responder=*/false);
    }

    void unresolved(const flow::Host& wanted) {
        const std::string others = other_hosts(whole_.logs, event_.role);
        const Notices* asked = whole_.traffic.unresolved(wanted);
        const std::string begin = fmt::format("the queue pair cannot reach the destination GID {}",
                                              event_[key::dest_gid]);
        const std::string_view error = event_[key::error];
        Cause* cause = nullptr;
        if (is_a_host(whole_, wanted, event_.role))
            cause = &add(Code::PathBroken, Certainty::Likely,
                         fmt::format("{}: the host that has it did not respond, or no route leads "
                                     "to it ({}).",
                                     begin, error));
        else if (!others.empty())
            cause = &add(
                Code::WrongGid, Certainty::Certain,
                fmt::format("{}: no log of another host has this address ({}).", begin, error));
        else if (asked != nullptr)
            cause = &add(Code::PathBroken, Certainty::Possible,
                         fmt::format("{}: its host is down or was separated from the network, or "
                                     "no host has this address ({}).",
                                     begin, error));
        else
            return without_host();
        if (!others.empty())
            cause->add(value(event_.role, "the other hosts: " + others));
        if (asked != nullptr) {
            cause->add(asked->first);
            cause->evidence.back().text += fmt::format("  ({}, no reply)", times(asked->count));
        }
    }

    void without_host() {
        add(Code::WrongGid, Certainty::Likely,
            "the queue pair cannot reach the destination GID: no host has this address.");
    }

    void without_entry(std::uint64_t index) {
        Cause& cause = add(Code::WrongGid, Certainty::Certain,
                           fmt::format("the port has no GID with index {}.", index));
        for (const logged::Device& device : whole_.logs.devices().all())
            if (device.role == event_.role && device.gid_index != index)
                cause.add(
                    value(event_.role, fmt::format("GID {}: {}", device.gid_index, device.gid)));
        cause.try_this =
            "Choose the index of a RoCE v2 GID of this host (show_gids, ibv_devinfo -v): the "
            "indices of two hosts may differ.";
    }

    void families() {
        const auto index = event_[key::gid_index];
        const logged::Device* own =
            index ? whole_.logs.devices().find(event_.role, *index) : nullptr;
        if (own == nullptr || !own->host || !wanted_ || own->host->is_ipv4() == wanted_->is_ipv4())
            return;
        add(Code::WrongGid, Certainty::Certain,
            "the GID of the given index and the destination GID are of different families "
            "(IPv4 and IPv6).")
            .add(value(event_.role, "GID of this index: " + own->gid));
    }

    const Whole& whole_;
    const runlog::Event& event_;
    std::optional<flow::Host> wanted_;
    Causes& causes_;
};

}  // namespace

bool explain_wrong_gid(const Case& one, Causes& causes) {
    return WrongGid(one, causes).explain();
}

void explain_failed_rtr(const Whole& whole, Causes& causes) {
    for (const runlog::Event& event : whole.logs.notices())
        if (event.is("failed") && event[key::call] == "ibv_modify_qp" && event[key::to] == "RTR")
            FailedRtr(whole, event, causes).explain();
}

}  // namespace explain
