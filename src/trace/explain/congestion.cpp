// ECN marks and CNPs.
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {

void explain_congestion(const Whole& whole, Causes& causes) {
    const Notices& marks = whole.traffic.marks();
    const Notices& cnps = whole.traffic.cnps();
    if (marks.count == 0 && cnps.count == 0)
        return;
    Cause cause{
        .code = Code::Congestion,
        .certainty = Certainty::Certain,
        .text = fmt::format("{} congestion marks (ECN), and {} CNP{} sent{}.",
                            packets(marks.count, "carries", "carry"), cnps.count,
                            cnps.count == 1 ? " was" : "s were",
                            cnps.count == 0 ? ": the receiver does not notify the sender" : ""),
    };
    for (const Notices* notices : {&marks, &cnps})
        if (notices->count != 0)
            cause.add(notices->first);
    if (cnps.count == 0)
        cause.try_this =
            "Let the receiver's adapter send CNPs (DCQCN, ECN for RoCE); Soft-RoCE sends none. "
            "Look for the congested link.";
    causes.push_back(std::move(cause));
}

}  // namespace explain
