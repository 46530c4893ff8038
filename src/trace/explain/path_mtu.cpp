// Path MTUs: the two ends have different ones, or a port allows less.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

class PathMtu {
  public:
    PathMtu(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (!port())
            ends();
    }

  private:
    struct End {
        std::uint64_t path_mtu = 0;    // bytes; 0: unknown
        const Seen* packet = nullptr;  // that shows it; nullptr: its log does
    };

    // A packet that is not the last of its message has as much payload as the path MTU (IBTA volume 1,
    // 9.7.4.1.6).
    template <typename Packets>
    static End end_of(const LoggedQueuePair* logged, const Packets& packets) {
        if (logged != nullptr && logged->path_mtu != 0)
            return {.path_mtu = logged->path_mtu};
        for (const auto& packet : packets) {
            const Seen& seen = get(packet);
            if (!seen.is_damaged && seen.payload != 0 && !seen.opcode->ends_message())
                return {.path_mtu = seen.payload, .packet = &seen};
        }
        return {};
    }
    static const Seen& get(const Seen& seen) { return seen; }
    static const Seen& get(const Seen* seen) { return *seen; }

    void ends() {
        const End own = end_of(direction_.requester, direction_.requests);
        const End other = direction_.back == nullptr
                              ? end_of(direction_.responder, direction_.responses)
                              : end_of(direction_.responder, direction_.back->packets);
        const auto refused = refused_request(case_);
        if (other.path_mtu == 0 || (refused && refused->reason == Refused::Access))
            return;
        if (own.path_mtu == 0)
            exceeded(other);
        else if (own.path_mtu != other.path_mtu)
            differ(own, other, refused && refused->reason == Refused::Invalid);
    }

    // Some devices accept packets of another size; these connections work.
    void differ(const End& own, const End& other, bool is_refused) {
        const bool is_seen = own.packet != nullptr || other.packet != nullptr;
        if (is_seen && !is_refused && !case_.has_unfinished_read())
            return;
        const bool is_logged = own.packet == nullptr || other.packet == nullptr;
        Cause& cause =
            add(is_logged ? Certainty::Certain : Certainty::Possible,
                fmt::format("the path MTU is {} at {} and {} at {}{}.", own.path_mtu,
                            spoken(direction_.from), other.path_mtu, spoken(direction_.to),
                            is_seen ? ", according to the size of packets" : ""));
        show(cause, direction_.requester, own);
        show(cause, direction_.responder, other);
        show_nak(cause);
    }

    static void show(Cause& cause, const LoggedQueuePair* pair, const End& end) {
        if (end.packet == nullptr)
            cause.add(value(pair->role, fmt::format("path_mtu {}", end.path_mtu)));
        else if (cause.evidence.empty() || cause.evidence.front().frame != end.packet->frame)
            cause.add(evidence(*end.packet));
    }

    // By a request of one packet.
    void exceeded(const End& other) {
        if (other.packet != nullptr)
            return;
        const Seen* largest = direction_.largest_request();
        if (largest == nullptr || largest->payload <= other.path_mtu)
            return;
        Cause& cause =
            add(Certainty::Certain,
                fmt::format("a packet has {} bytes of payload, and the path MTU of {} is {}.",
                            largest->payload, spoken(direction_.to), other.path_mtu));
        show(cause, direction_.responder, other);
        show_nak(cause);
    }

    void show_nak(Cause& cause) const {
        const auto nak = std::ranges::find_if(direction_.responses, [](const Seen* one) {
            return one->is_kind(wire::AethKind::Nak);
        });
        if (nak != direction_.responses.end())
            cause.add(evidence(**nak));
    }

    // A queue pair cannot send larger packets than its port.
    bool port() {
        for (const LoggedQueuePair* pair : {direction_.requester, direction_.responder}) {
            const logged::Device* device =
                pair == nullptr ? nullptr : case_.whole.logs.devices().last_of(pair->role);
            if (device == nullptr || device->path_mtu == 0 || pair->path_mtu <= device->path_mtu)
                continue;
            Cause& cause = add(Certainty::Certain,
                               fmt::format("{} has path MTU {}, but its port allows only {}: it "
                                           "cannot send packets of that size.",
                                           pair->called(), pair->path_mtu, device->path_mtu));
            cause.add(value(pair->role, fmt::format("path_mtu {}", pair->path_mtu)));
            cause.add(value(pair->role, fmt::format("path_mtu {} of the port", device->path_mtu)));
            return true;
        }
        return false;
    }

    Cause& add(Certainty certainty, std::string text) {
        return add_fatal(case_, causes_, Code::PathMtuMismatch, certainty, std::move(text));
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

void explain_path_mtu(const Case& one, Causes& causes) {
    PathMtu(one, causes).explain();
}

}  // namespace explain
