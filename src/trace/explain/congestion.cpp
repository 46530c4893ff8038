// ECN marks and CNPs.
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {

void explain_congestion(const Whole& whole, Causes& causes) {
    std::uint64_t marked = 0;
    const Seen* first = nullptr;
    for (const Stream& stream : whole.traffic.streams())
        for (const Seen& seen : stream.packets)
            if (seen.is_marked) {
                ++marked;
                if (first == nullptr || seen.frame < first->frame)
                    first = &seen;
            }
    const auto& cnps = whole.traffic.cnps();
    if (marked == 0 && cnps.empty())
        return;
    Cause cause{
        .code = Code::Congestion,
        .certainty = Certainty::Certain,
        .text = fmt::format("{} congestion marks (ECN), and {} CNP{} sent{}.",
                            packets(marked, "carries", "carry"), cnps.size(),
                            cnps.size() == 1 ? " was" : "s were",
                            cnps.empty() ? ": the receiver does not notify the sender" : ""),
        .evidence = {},
        .where = {}};
    if (first != nullptr)
        cause.add(evidence(*first));
    if (!cnps.empty())
        cause.add(
            {.frame = cnps.front().frame, .role = {}, .t_ns = cnps.front().t_ns, .text = "CNP"});
    causes.push_back(std::move(cause));
}

}  // namespace explain
