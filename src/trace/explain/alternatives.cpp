// What else a certain cause could have been, and the data that exclude it.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

using wire::AethKind;

class Alternatives {
  public:
    explicit Alternatives(const Case& one) : case_(one), direction_(one.direction) {}

    void exclude(Cause& cause) const {
        const bool is_set_up = cause.code >= Code::WrongPsn && cause.code <= Code::WrongPKey;
        const bool is_silence = cause.code >= Code::PeerGone && cause.code <= Code::TimeoutTooShort;
        const bool is_access = cause.code >= Code::WrongRkey && cause.code <= Code::OtherPd;
        if (is_set_up || is_silence)
            set_up(cause);
        else if (is_access)
            access(cause);
    }

  private:
    static void add(Cause& cause, Code code, std::optional<std::string> because) {
        if (because && code != cause.code)
            cause.excluded.push_back({code, std::move(*because)});
    }

    void set_up(Cause& cause) const {
        add(cause, Code::WrongGid, gid());
        add(cause, Code::WrongQpn, queue_pair());
        add(cause, Code::PeerNotReady, readiness());
        add(cause, Code::WrongPKey, partition());
        add(cause, Code::WrongPsn, first_psn());
        add(cause, Code::PathMtuMismatch, path_mtu());
    }

    std::optional<std::string> gid() const {
        const LoggedQueuePair* requester = direction_.requester;
        if (requester == nullptr || direction_.responder_role.empty())
            return std::nullopt;
        const auto host = flow::host_of_gid(requester->dest_gid);
        if (!host || case_.whole.logs.role_at(*host) != direction_.responder_role)
            return std::nullopt;
        return fmt::format("the requests go to {}, an address of {}", flow::text(*host),
                           spoken(direction_.responder_role));
    }

    std::optional<std::string> queue_pair() const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || requester->dest_qpn != responder->qpn ||
            responder->dest_qpn != requester->qpn)
            return std::nullopt;
        return fmt::format("{:#08x} and {:#08x} are connected to each other", requester->qpn,
                           responder->qpn);
    }

    std::optional<std::string> readiness() const {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || !responder->ready_ns || direction_.begin_ns() == 0 ||
            *responder->ready_ns > direction_.begin_ns())
            return std::nullopt;
        return fmt::format("{} was in RTR {} before the first request", responder->called(),
                           milliseconds(direction_.begin_ns() - *responder->ready_ns));
    }

    std::optional<std::string> partition() const {
        constexpr std::uint16_t members = 0x7fff;
        if (direction_.requests.empty() || direction_.responses.empty())
            return std::nullopt;
        const std::uint16_t own = direction_.requests.front()->p_key;
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
        const auto ack = std::ranges::find_if(
            direction_.responses, [](const Seen* one) { return one->is_kind(AethKind::Ack); });
        if (ack == direction_.responses.end())
            return std::nullopt;
        return fmt::format("frame {} acknowledges PSN {:#08x}", (*ack)->frame, (*ack)->psn);
    }

    std::optional<std::string> path_mtu() const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || requester->path_mtu == 0 ||
            requester->path_mtu != responder->path_mtu)
            return std::nullopt;
        return fmt::format("it is {} at both ends", requester->path_mtu);
    }

    // As the responder checks an access.
    void access(Cause& cause) const {
        const auto request = refused_request(case_);
        const std::string& role = direction_.responder_role;
        if (!request || role.empty() || !case_.whole.logs.is_whole(role))
            return;
        const Region* region = nullptr;
        for (const Region& one : case_.whole.logs.regions())
            if (one.role == role && one.rkey != 0 && one.rkey == request->rkey)
                region = &one;
        if (region == nullptr && request->rkey != 0) {
            add(cause, Code::Deregistered,
                fmt::format("no region in the log of {} ever had this rkey", spoken(role)));
        }
        if (region == nullptr)
            return;
        add(cause, Code::WrongRkey,
            fmt::format("{} registered memory with rkey {:#010x}", spoken(role), region->rkey));
        if (!region->gone_ns)
            add(cause, Code::Deregistered, "the log has no deregistration of it");
        const LoggedQueuePair* responder = direction_.responder;
        if (responder != nullptr && responder->pd && responder->pd == region->pd)
            add(cause, Code::OtherPd,
                fmt::format("the region and the queue pair are in protection domain {}",
                            *region->pd));
        if (region->has(request->va, request->length))
            add(cause, Code::OutOfBounds,
                fmt::format("{:#x} + {} B lies in {:#x} + {} B", request->va, request->length,
                            region->va, region->length));
        if (region->allows(request->right) && responder != nullptr && !responder->access.empty() &&
            !request->is_forbidden_by(responder))
            add(cause, Code::MissingAccessRight,
                fmt::format("the region and the queue pair have {}", request->right));
    }

    const Case& case_;
    const Direction& direction_;
};

}  // namespace

void exclude_alternatives(const Case& one, Causes& causes) {
    const Alternatives alternatives(one);
    for (Cause& cause : causes)
        if (cause.certainty == Certainty::Certain && cause.excluded.empty() &&
            cause.where == one.direction.where())
            alternatives.exclude(cause);
}

}  // namespace explain
