// Packets with a wrong ICRC.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class WrongIcrcs {
  public:
    WrongIcrcs(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), course_(one.course), causes_(causes) {}

    bool explain() {
        const Course::Damage& damage = course_.damage;
        Damaged corrupted = damage.unexplained, explained = damage.other;
        // A source port that fits few of many is a coincidence.
        (damage.port.count > corrupted.count ? explained : corrupted).add(damage.port);
        const bool is_damaged = corrupted.count + explained.count != 0;
        explained.add(damage.trusted);
        // A mirror may rewrite the port of all packets, which are right for their receiver, and it responds.
        if (course_.responses == 0)
            explained.add(damage.trusted_port);
        if (Cause* cause = wrong(Code::WrongIcrc, Certainty::Likely, explained,
                                 "right " + hints_of(explained)))
            cause->try_this = advice_for(explained);
        wrong(Code::Corruption, Certainty::Certain, corrupted,
              "something on the path changed them, and their receiver drops them");
        return is_damaged;
    }

  private:
    std::string hints_of(const Damaged& explained) const {
        std::set<std::string> causes;
        for (const auto& [hint, is_request] : explained.hints)
            causes.insert(cause_of(*hint, is_request));
        return fmt::format("{}", fmt::join(causes, "; or "));
    }

    std::string cause_of(const wire::IcrcHint& hint, bool is_request) const {
        if (hint.kind == wire::IcrcHint::Kind::SourcePort && course_.responses == 0)
            return "with another UDP source port: a device on the path may have rewritten it (NAT)";
        if (!is_of_address(hint))
            return std::string(hint.cause());
        return fmt::format(
            "with {} address {} instead of {}: a device on the path may have rewritten it (NAT)",
            hint.kind == wire::IcrcHint::Kind::SourceAddress ? "source" : "destination",
            wire::text(hint.address), address_instead(hint, is_request));
    }

    static bool is_of_address(const wire::IcrcHint& hint) {
        return hint.kind == wire::IcrcHint::Kind::SourceAddress ||
               hint.kind == wire::IcrcHint::Kind::DestinationAddress;
    }

    // The one that the packet has.
    std::string address_instead(const wire::IcrcHint& hint, bool is_request) const {
        const flow::StreamKey& key = direction_.stream->key;
        const bool is_source = hint.kind == wire::IcrcHint::Kind::SourceAddress;
        return flow::text(is_source == is_request ? key.src : key.dst, key.network);
    }

    // Empty: that of the code.
    std::string advice_for(const Damaged& explained) const {
        std::set<std::string> pairs;
        const auto is_of_flush = [](const auto& one) {
            return one.first->kind == wire::IcrcHint::Kind::HeadersTwice;
        };
        if (std::ranges::all_of(explained.hints, is_of_flush))
            return "Nothing between two Soft-RoCE devices. With an adapter, do not use FLUSH: READ "
                   "the last byte of the WRITE instead.";
        for (const auto& [hint, is_request] : explained.hints)
            if (is_of_address(*hint))
                pairs.insert(fmt::format("{} and {}", wire::text(hint->address),
                                         address_instead(*hint, is_request)));
        if (pairs.empty())
            return {};
        return fmt::format(
            "Exempt UDP port 4791 from the translation between {} (NAT), or connect "
            "the hosts by addresses that need none.",
            *pairs.begin());
    }

    // Returns nullptr if there is no such packet.
    Cause* wrong(Code code, Certainty certainty, const Damaged& packets, std::string_view how) {
        if (packets.count == 0)
            return nullptr;
        const Course::Damage& damage = course_.damage;
        Cause cause =
            case_.cause(code, certainty,
                        fmt::format("{} of {} packets have a wrong ICRC: {}.", packets.count,
                                    damage.unexplained.count + damage.port.count +
                                        damage.other.count + course_.requests + course_.responses,
                                    how));
        cause.cost_ns = course_.cost_of(Why::Damaged) + course_.cost_of(Why::LostBefore);
        cause.is_fatal = case_.has_given_up();
        for (const Seen* one : packets.first)
            cause.add(evidence(*one));
        causes_.push_back(std::move(cause));
        return &causes_.back();
    }

    const Case& case_;
    const Direction& direction_;
    const Course& course_;
    Causes& causes_;
};

}  // namespace

bool explain_damage(const Case& one, Causes& causes) {
    return WrongIcrcs(one, causes).explain();
}

}  // namespace explain
