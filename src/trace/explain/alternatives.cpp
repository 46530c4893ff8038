// What else a cause could have been, and the data that exclude it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class Alternatives {
  public:
    explicit Alternatives(const Case& one) : case_(one), direction_(one.direction) {}

    // A packet that fails one check is not subject to those after it. If there is no response, the
    // packet may have failed any of them.
    void exclude(Cause& cause) const {
        const bool is_set_up = cause.code >= Code::WrongPsn && cause.code <= Code::WrongPKey;
        const bool is_silence = cause.code >= Code::PeerGone && cause.code <= Code::TimeoutTooShort;
        if (!is_set_up && !is_silence)
            return;
        // On the path, nothing checks them. No queue pair has a number of more than 24 bits.
        const LoggedQueuePair* requester = direction_.requester;
        bool is_before = cause.code != Code::PathBroken && cause.code != Code::LargePacketsLost &&
                         (cause.code != Code::WrongQpn || requester == nullptr ||
                          requester->dest_qpn.value_or(0) <= 0xffffff);
        for (const Check& check : checks) {
            is_before &= check.code != cause.code;
            auto because = (this->*check.passed)();
            if (is_before || because)
                cause.consider(check.code, std::move(because));
        }
    }

  private:
    // What the responder checks of a packet, in this order (IBTA volume 1, 9.6 and 9.7.4.1).
    struct Check {
        Code code{};
        // Returns the data that show that the packets passed; nullopt: none.
        std::optional<std::string> (Alternatives::*passed)() const = nullptr;
    };
    static const std::array<Check, 6> checks;

    std::optional<std::string> accepted() const {
        const Seen* response = case_.first_accepted();
        return response == nullptr
                   ? std::nullopt
                   : std::optional(fmt::format("frame {} is a response to PSN {:#08x}",
                                               response->frame, response->psn));
    }

    std::optional<std::string> gid() const {
        const LoggedQueuePair* requester = direction_.requester;
        const auto host = direction_.stream != nullptr ? std::optional(direction_.stream->key.dst)
                          : requester != nullptr       ? flow::host_of_gid(requester->dest_gid)
                                                       : std::nullopt;
        if (!host)
            return std::nullopt;
        const std::string role = case_.whole.logs.role_at(*host);
        if (!role.empty() && role == direction_.responder_role)
            return fmt::format("the requests go to {}, an address of {}", flow::text(*host),
                               spoken(role));
        if (direction_.stream != nullptr && case_.is_responder_alive(0))
            return fmt::format("{} sends packets", flow::text(*host));
        return std::nullopt;
    }

    std::optional<std::string> queue_pair() const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && responder != nullptr && requester->dest_qpn == responder->qpn &&
            responder->dest_qpn == requester->qpn)
            return fmt::format("{:#08x} and {:#08x} are connected to each other", requester->qpn,
                               responder->qpn);
        if (responder != nullptr && is_only(*responder))
            return fmt::format("{:#08x} is the only queue pair of {}", responder->qpn,
                               spoken(responder->role));
        if (requester != nullptr && direction_.back != nullptr && !direction_.responses.empty() &&
            direction_.back->key.dest_qpn == requester->qpn)
            return fmt::format("{:#08x} responds to {:#08x}", direction_.dest_qpn, requester->qpn);
        if (direction_.stream != nullptr && direction_.stream->facts.was_set_up)
            return fmt::format("the connection manager has set up the connection to {:#08x}",
                               direction_.dest_qpn);
        return accepted();
    }

    bool is_only(const LoggedQueuePair& pair) const {
        return std::ranges::none_of(
            case_.whole.logs.queue_pairs(), [&](const LoggedQueuePair& other) {
                return &other != &pair && other.role == pair.role && !other.destroyed_ns;
            });
    }

    std::optional<std::string> readiness() const {
        constexpr std::int64_t doubt_ns = 200'000'000;  // between the clocks of two hosts
        const LoggedQueuePair* responder = direction_.responder;
        if (!direction_.responses.empty())
            return fmt::format("frame {} is a response", direction_.responses.front()->frame);
        if (responder == nullptr || !responder->ready_ns || direction_.begin_ns() == 0)
            return std::nullopt;
        if (*responder->ready_ns <= direction_.begin_ns())
            return fmt::format("{} was in RTR {} before the first request", responder->called(),
                               milliseconds(direction_.begin_ns() - *responder->ready_ns));
        const Completion* end = case_.error("RETRY_EXC_ERR");
        if (end != nullptr && *responder->ready_ns + doubt_ns > end->t_ns)
            return std::nullopt;
        return fmt::format("{} went to RTR, and the requester did not give up before",
                           responder->called());
    }

    std::optional<std::string> partition() const {
        // Without packets, no log shows it; Linux gives RoCE ports the default partition only.
        if (direction_.requests.empty())
            return "RoCE ports have the default partition only";
        constexpr std::uint16_t members = 0x7fff;
        const std::uint16_t own = direction_.requests.front()->p_key;
        if (direction_.responses.empty())
            return (own & members) == members
                       ? std::optional(fmt::format(
                             "the requests have P_Key {:#06x}, the default partition", own))
                       : std::nullopt;
        if ((own & members) != (direction_.responses.front()->p_key & members))
            return std::nullopt;
        return fmt::format("the packets of both ends have P_Key {:#06x}", own);
    }

    std::optional<std::string> first_psn() const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && responder != nullptr && requester->sq_psn &&
            requester->sq_psn == responder->rq_psn)
            return fmt::format("sq_psn of {} and rq_psn of {} are {:#08x}", spoken(direction_.from),
                               spoken(direction_.to), *requester->sq_psn);
        return accepted();
    }

    std::optional<std::string> path_mtu() const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && responder != nullptr && requester->path_mtu != 0 &&
            requester->path_mtu == responder->path_mtu)
            return fmt::format("it is {} at both ends", requester->path_mtu);
        const auto largest = std::ranges::max_element(direction_.requests, {}, &Seen::payload);
        const Seen* answer = case_.course.last_answer;
        if (answer == nullptr || !accepted() || !answer->acknowledges((*largest)->psn))
            return std::nullopt;
        return fmt::format("frame {}, of the largest size, was acknowledged", (*largest)->frame);
    }

    const Case& case_;
    const Direction& direction_;
};

const std::array<Alternatives::Check, 6> Alternatives::checks{
    {{Code::WrongGid, &Alternatives::gid},
     {Code::WrongPKey, &Alternatives::partition},
     {Code::WrongQpn, &Alternatives::queue_pair},
     {Code::PeerNotReady, &Alternatives::readiness},
     {Code::WrongPsn, &Alternatives::first_psn},
     {Code::PathMtuMismatch, &Alternatives::path_mtu}}};

}  // namespace

void exclude_alternatives(const Case& one, Causes& causes) {
    const Alternatives alternatives(one);
    for (Cause& cause : causes)
        if (cause.certainty == Certainty::Certain && cause.excluded.empty() &&
            cause.where == one.direction.where())
            alternatives.exclude(cause);
}

}  // namespace explain
