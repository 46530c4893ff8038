#include "trace/conformance/half_check.hpp"

#include <algorithm>

namespace conformance {

bool HalfCheck::is_copy(const ObservedPacket& response) {
    const flow::NewestPackets::Packet sent{response.psn, response.ip_id, response.opcode->value};
    if (sent_responses_.has_copy_of(sent, response.t_ns))
        return true;
    sent_responses_.add(sent, response.t_ns, true);
    return false;
}

void HalfCheck::take(StepKind kind, const ObservedPacket& seen) {
    ++counts_.packets;
    if (keep_ != Keep::Window)
        steps_.push_back({kind, seen});
    switch (kind) {
        case StepKind::RequestSent:
            if (requester_.sent(seen))
                copied_request_ = seen.frame;
            ++counts_.requests;
            break;
        case StepKind::RequestArrived:
            // Of a capture at one point, it need not have arrived twice.
            responder_.request(seen, seen.frame == copied_request_);
            break;
        case StepKind::ResponseSent:
            if (!is_copy(seen))
                responder_.response(seen);
            ++counts_.responses;
            break;
        case StepKind::ResponseArrived:
            requester_.arrived(seen);
            counts_.rnr_naks += !seen.is_damaged && seen.is_rnr_nak() ? 1 : 0;
            break;
    }
    const bool is_sent = kind == StepKind::RequestSent || kind == StepKind::ResponseSent;
    counts_.cut += is_sent && seen.lacks_headers ? 1 : 0;
    counts_.lost += seen.fate == Fate::Lost ? 1 : 0;
    counts_.doubled += seen.fate == Fate::Doubled ? 1 : 0;
    counts_.reordered += seen.fate == Fate::Reordered ? 1 : 0;
    counts_.corrupted += seen.fate == Fate::Corrupted ? 1 : 0;
    counts_.changed += seen.fate == Fate::Changed ? 1 : 0;
}

void HalfCheck::take(const ObservedPacket& seen) {
    if (order_.fits(seen)) {
        pass(seen);
        return;
    }
    for (const ObservedPacket& one : order_.take(seen))
        pass(one);
}

void HalfCheck::pass(const ObservedPacket& seen) {
    const bool is_request = seen.is_request();
    take(is_request ? StepKind::RequestSent : StepKind::ResponseSent, seen);
    ObservedPacket arrived = seen;
    arrived.fate = Fate::Passed;
    take(is_request ? StepKind::RequestArrived : StepKind::ResponseArrived, arrived);
}

void HalfCheck::end_part(std::uint64_t frame) {
    if (keep_ != Keep::Part)
        return;
    part_ends_.push_back(frame);
    if (part_ends_.size() > 1)
        find_recoveries(part_ends_.end()[-2]);
    if (part_ends_.size() < 3)
        return;
    const std::uint64_t begin = part_ends_.front();
    part_ends_.pop_front();
    while (!steps_.empty() && steps_.front().seen.frame < begin)
        steps_.pop_front();
    responder_.forget_before(begin);
    requester_.forget_before(begin);
}

void HalfCheck::find_recoveries(std::uint64_t end) {
    constexpr std::size_t most = 20'000;  // of all directions
    for (Recovery& one :
         conformance::recoveries(steps_, recoveries_until_, end, responder_, requester_)) {
        if (shared_.recoveries == most) {
            ++recoveries_left_out_;
            continue;
        }
        ++shared_.recoveries;
        recoveries_.push_back(std::move(one));
    }
    recoveries_until_ = end;
}

void HalfCheck::finish(std::int64_t end_ns) {
    for (const ObservedPacket& one : order_.finish())
        pass(one);
    responder_.finish(end_ns);
    requester_.finish(end_ns);
    if (keep_ != Keep::Window)
        find_recoveries(UINT64_MAX);
}

}  // namespace conformance
