#include "trace/conformance/half_check.hpp"

namespace conformance {

void HalfCheck::take(StepKind kind, const ObservedPacket& seen) {
    ++counts_.packets;
    switch (kind) {
        case StepKind::RequestSent:
            requester_.sent(seen);
            ++counts_.requests;
            break;
        case StepKind::RequestArrived:
            responder_.request(seen);
            break;
        case StepKind::ResponseSent:
            responder_.response(seen);
            ++counts_.responses;
            break;
        case StepKind::ResponseArrived:
            requester_.arrived(seen);
            counts_.rnr_naks += !seen.is_damaged && seen.is_rnr_nak() ? 1 : 0;
            break;
    }
    counts_.lost += seen.fate == Fate::Lost ? 1 : 0;
    counts_.doubled += seen.fate == Fate::Doubled ? 1 : 0;
    counts_.reordered += seen.fate == Fate::Reordered ? 1 : 0;
    counts_.corrupted += seen.fate == Fate::Corrupted ? 1 : 0;
    counts_.changed += seen.fate == Fate::Changed ? 1 : 0;
}

}  // namespace conformance
