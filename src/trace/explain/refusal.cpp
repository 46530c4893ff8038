// Why the responder refused a request.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

using wire::AethKind;

class Refusal {
  public:
    Refusal(const Case& one, const RefusedRequest& request, Causes& causes)
        : case_(one), request_(request), causes_(causes) {}

    void explain() {
        if (request_.reason == Refused::Access)
            access();
        else if (request_.reason == Refused::Invalid)
            invalid();
        else
            failed_there();
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.is_fatal = true;
        cause.evidence = request_.evidence;
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    std::vector<const Region*> regions(std::string_view role) const {
        std::vector<const Region*> found;
        for (const Region& region : case_.whole.logs.regions())
            if (region.role == role && region.rkey != 0)
                found.push_back(&region);
        return found;
    }

    void access() {
        const std::string& role = case_.direction.responder_role;
        if (request_.right.empty()) {
            failed_there();
            return;
        }
        if (!role.empty() && case_.whole.logs.is_whole(role))
            access_by_regions(role);
        else
            access_as_told();
    }

    void access_by_regions(const std::string& role) {
        const auto all = regions(role);
        std::vector<const Region*> same;
        for (const Region* region : all)
            if (region->rkey == request_.rkey)
                same.push_back(region);
        if (same.empty()) {
            Cause& cause = add(Code::WrongRkey, Certainty::Certain,
                               fmt::format("{} has no memory region with rkey {:#010x}.",
                                           spoken(case_.direction.to), request_.rkey));
            list(all, cause);
            return;
        }
        const Region& region = *same.back();
        if (region.gone_ns && case_.is_before(*region.gone_ns, request_.refused_ns))
            gone(role, region, Certainty::Certain);
        else
            access_by_region(role, region);
    }

    void gone(const std::string& role, const Region& region, Certainty certainty) {
        Cause& cause = add(Code::Deregistered, certainty,
                           fmt::format("the region with rkey {:#010x} was deregistered or "
                                       "invalidated before the request arrived.",
                                       request_.rkey));
        cause.add(value(role, region.text()));
        cause.add({.role = role,
                   .t_ns = *region.gone_ns,
                   .text = "the region was deregistered or invalidated"});
    }

    void access_by_region(const std::string& role, const Region& region) {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder != nullptr && responder->pd && region.pd && *responder->pd != *region.pd) {
            Cause& cause =
                add(Code::OtherPd, Certainty::Certain,
                    fmt::format("the region with rkey {:#010x} is in protection domain {}, and the "
                                "queue pair in {}.",
                                region.rkey, *region.pd, *responder->pd));
            cause.add(value(role, region.text()));
            return;
        }
        if (!region.has(request_.va, request_.length)) {
            Cause& cause = add(Code::OutOfBounds, Certainty::Certain, bounds(region));
            cause.add(value(role, region.text()));
            return;
        }
        if (!region.allows(request_.right)) {
            Cause& cause = add(Code::MissingAccessRight, Certainty::Certain,
                               fmt::format("the region with rkey {:#010x} does not allow {}.",
                                           region.rkey, request_.right));
            cause.add(value(role, region.text()));
            return;
        }
        if (lacks_right()) {
            add_missing_right();
            return;
        }
        // The capture's clock does not show when it was deregistered; nothing else is wrong with
        // it.
        if (region.gone_ns && !case_.is_captured_at_responder()) {
            gone(role, region, Certainty::Possible);
            return;
        }
        Cause& cause =
            add(Code::RemoteAccess, Certainty::Likely,
                "the responder refused the access, although its log has a region that fits.");
        cause.add(value(role, region.text()));
    }

    static std::string bytes(std::uint64_t count) {
        return fmt::format("{} byte{}", count, count == 1 ? "" : "s");
    }

    std::string bounds(const Region& region) const {
        const std::uint64_t end = request_.va + request_.length;
        const std::uint64_t region_end = region.va + region.length;
        if (request_.va >= region.va && end > region_end)
            return fmt::format("the access ends {} past the end of the region.",
                               bytes(end - region_end));
        if (request_.va < region.va)
            return fmt::format("the access begins {} before the region.",
                               bytes(region.va - request_.va));
        return "the access is outside of the region.";
    }

    // Without the responder's log: uses what the requester was told about the memory.
    void access_as_told() {
        std::vector<const Told*> told;
        for (const Told& one : case_.whole.logs.told())
            if (one.role == case_.direction.requester_role)
                told.push_back(&one);
        const auto same = std::ranges::find_if(
            told, [this](const Told* one) { return one->rkey == request_.rkey; });
        if (!told.empty() && same == told.end()) {
            Cause& cause = add(Code::WrongRkey, Certainty::Likely,
                               fmt::format("rkey {:#010x} is not one of those that {} received.",
                                           request_.rkey, spoken(case_.direction.from)));
            cause.add(
                value(told.back()->role, fmt::format("received rkey {:#010x}", told.back()->rkey)));
            return;
        }
        if (same != told.end()) {
            Region region;
            region.va = (*same)->va;
            region.length = (*same)->length;
            if (!region.has(request_.va, request_.length)) {
                Cause& cause = add(Code::OutOfBounds, Certainty::Likely, bounds(region));
                cause.add(value((*same)->role, fmt::format("received memory {:#x} + {} B",
                                                           region.va, region.length)));
                return;
            }
        }
        add(Code::RemoteAccess, Certainty::Certain,
            "the responder refused the access to its memory. Only its run log shows which of rkey, "
            "bounds, rights, registration and protection domain is wrong.");
    }

    bool lacks_right() const {
        const LoggedQueuePair* responder = case_.direction.responder;
        return responder != nullptr && !request_.right.empty() && !responder->access.empty() &&
               responder->access.find(request_.right) == std::string::npos;
    }

    void add_missing_right() {
        const LoggedQueuePair& responder = *case_.direction.responder;
        Cause& cause =
            add(Code::MissingAccessRight, Certainty::Certain,
                fmt::format("{} does not allow {}.", responder.called(), request_.right));
        cause.add(value(responder.role, "access of the queue pair: " + responder.access));
    }

    void invalid() {
        if (lacks_right())
            add_missing_right();
        else if (request_.is_read_or_atomic)
            depth();
        else if (request_.takes_receive && !is_mtu_exceeded())  // see explain_set_up()
            receive();
    }

    bool is_mtu_exceeded() const {
        const LoggedQueuePair* responder = case_.direction.responder;
        return responder != nullptr && responder->path_mtu != 0 &&
               request_.payload > responder->path_mtu;
    }

    // READs and atomics outstanding when the refused one was sent.
    std::size_t outstanding() const {
        if (request_.packet == nullptr)
            return 0;
        std::size_t count = 0;
        const Seen* answer = nullptr;
        for (const Seen* response : case_.direction.responses)
            if (response->frame < request_.packet->frame && !response->is_kind(AethKind::Nak))
                answer = response;
        for (const Seen* request : case_.direction.requests)
            if (request->frame <= request_.packet->frame &&
                is_read_or_atomic(request->opcode->operation) &&
                (answer == nullptr || distance(answer->psn, request->psn) > 0))
                ++count;
        return count;
    }

    void depth() {
        const LoggedQueuePair* responder = case_.direction.responder;
        const std::size_t count = outstanding();
        if (responder != nullptr && responder->max_dest_rd_atomic) {
            const std::uint64_t most = *responder->max_dest_rd_atomic;
            if (most != 0 && count <= most)
                return;
            Cause& cause =
                add(Code::ReadDepth, Certainty::Certain,
                    fmt::format("{} accepts {} READs and atomics at a time, and {} were "
                                "outstanding.",
                                responder->called(), most, std::max<std::size_t>(count, 1)));
            cause.add(value(responder->role, fmt::format("max_dest_rd_atomic {}", most)));
            cause.try_this = most == 0
                                 ? std::string(
                                       "Set max_dest_rd_atomic (RTR) of the responder to at least "
                                       "1: it accepts no READ and no atomic.")
                                 : fmt::format(
                                       "Set max_rd_atomic (RTS) of the requester to at most {}, or "
                                       "max_dest_rd_atomic (RTR) of the responder to {}.",
                                       most, count);
            if (case_.direction.requester != nullptr && case_.direction.requester->max_rd_atomic)
                cause.add(value(
                    case_.direction.requester->role,
                    fmt::format("max_rd_atomic {}", *case_.direction.requester->max_rd_atomic)));
            return;
        }
        for (const CmSeen& message : case_.whole.traffic.cm())
            if (message.responder_resources && case_.direction.stream != nullptr &&
                message.from == case_.direction.stream->key.dst &&
                message.qpn == case_.direction.dest_qpn && count > *message.responder_resources) {
                Cause& cause =
                    add(Code::ReadDepth, Certainty::Certain,
                        fmt::format("the responder accepts {} READs and atomics at a time "
                                    "(responder resources), and {} were outstanding.",
                                    *message.responder_resources, count));
                cause.add(evidence(message));
                return;
            }
        if (count > 1)
            add(Code::ReadDepth, Certainty::Possible,
                fmt::format("{} READs and atomics were outstanding: probably more than the "
                            "responder accepts (max_dest_rd_atomic).",
                            count));
    }

    // The receive that a message used, and its error completion. Without an error completion: the
    // receive after the completed ones.
    struct Receive {
        const Completion* error = nullptr;
        std::optional<std::uint64_t> room;  // bytes; nullopt: unknown
    };
    static Receive receive_of(const LoggedQueuePair& responder) {
        Receive made;
        const auto error = std::ranges::find(responder.errors, true, &Completion::is_receive);
        std::uint64_t number = responder.receive_times.size();
        if (error != responder.errors.end()) {
            made.error = &*error;
            number = error->request.value_or(number);
        }
        if (!responder.srq && number < responder.receive_lengths.size())
            made.room = responder.receive_lengths[static_cast<std::size_t>(number)];
        return made;
    }

    void receive() {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder != nullptr)
            too_small(receive_of(*responder));
        else if (case_.direction.responder_role.empty())
            add(Code::ReceiveTooSmall, Certainty::Likely,
                fmt::format("the responder refused a message of {} bytes: the posted receive is "
                            "probably shorter.",
                            request_.length));
    }

    bool too_small(const Receive& receive) {
        if (!receive.room || *receive.room >= request_.length)
            return false;
        Cause& cause = add(
            Code::ReceiveTooSmall, Certainty::Certain,
            fmt::format("a message of {} bytes does not fit into the posted receive of {} bytes.",
                        request_.length, *receive.room));
        if (receive.error != nullptr)
            cause.add(evidence(*case_.direction.responder, *receive.error));
        return true;
    }

    // The responder could not execute the request. For a message, the receive is the reason: it is
    // too short, or the queue pair may not write to its memory.
    void failed_there() {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder == nullptr || !request_.takes_receive)
            return;
        const Receive receive = receive_of(*responder);
        if (too_small(receive) || receive.error == nullptr)
            return;
        const bool is_told = receive.error->status == "LOC_PROT_ERR";
        if (!is_told && !receive.room)
            return;
        Cause& cause = add(Code::LocalProtection, is_told ? Certainty::Certain : Certainty::Likely,
                           fmt::format("{} could not write the message into its receive buffer, "
                                       "although the buffer is long enough.",
                                       spoken(case_.direction.to)));
        cause.add(evidence(*responder, *receive.error));
    }

    void list(const std::vector<const Region*>& all, Cause& cause) const {
        constexpr std::size_t most = 3;
        for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
            cause.add(value(all[i]->role, all[i]->text()));
        if (all.size() > most)
            cause.add(
                value(all.front()->role, fmt::format("and {} more regions", all.size() - most)));
    }

    const Case& case_;
    const RefusedRequest& request_;
    Causes& causes_;
};

}  // namespace

void explain_refusal(const Case& one, Causes& causes) {
    if (const auto request = refused_request(one))
        Refusal(one, *request, causes).explain();
}

}  // namespace explain
