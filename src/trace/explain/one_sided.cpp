// Captures of one direction only, and of too little of each packet.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {

void explain_capture(const Case& one, Causes& causes) {
    const Direction& direction = one.direction;
    if (!direction.is_reliable() || !direction.responses.empty() || direction.requests.empty() ||
        one.is_end_explained(causes) || std::ranges::any_of(direction.damaged, &Seen::is_response))
        return;
    // Progress that is impossible without responses.
    std::size_t asking = 0;
    for (const Seen* request : direction.requests)
        asking += request->requires_response() ? 1 : 0;
    const bool knows_success = direction.requester != nullptr &&
                               direction.requester->sends_done > 0 &&
                               direction.requester->errors.empty();
    const bool goes_on =
        one.course.repeats * 4 < one.course.messages && asking >= 3 && one.course.messages >= 3;
    if (!knows_success && !goes_on)
        return;
    Cause cause =
        one.cause(Code::OneSidedCapture, knows_success ? Certainty::Certain : Certainty::Likely,
                  fmt::format("the capture has {} and no response, and the requester continued: "
                              "the responses took a path that was not captured.",
                              counted(one.course.requests, "request")));
    cause.add(evidence(*direction.requests.front()));
    if (direction.requests.size() > 1)
        cause.add(evidence(*direction.requests.back()));
    causes.push_back(std::move(cause));
}

void explain_missing_requests(const Whole& whole, Causes& causes) {
    constexpr std::uint64_t least = 3;
    std::set<std::pair<flow::Host, flow::Host>> with_requests;
    for (const KeptStream& stream : whole.traffic.streams())
        if (stream.requests != 0)
            with_requests.emplace(stream.key.src, stream.key.dst);
    for (const KeptStream& stream : whole.traffic.streams()) {
        const std::uint64_t answers = stream.responses;
        if (answers < least || with_requests.contains({stream.key.dst, stream.key.src}))
            continue;
        Cause cause{
            .code = Code::OneSidedCapture,
            .certainty = Certainty::Certain,
            .text = fmt::format(
                "the capture has {} responses, and none of the requests for these responses.",
                answers),
            .evidence = {},
            .where =
                fmt::format("{} → {}, QP {:#08x}", flow::text(stream.key.src, stream.key.network),
                            flow::text(stream.key.dst, stream.key.network), stream.key.dest_qpn)};
        cause.add(evidence(*std::ranges::find_if(stream.packets, &Seen::is_response)));
        causes.push_back(std::move(cause));
    }
}

void explain_cut(const Whole& whole, Causes& causes) {
    // An ACK without its AETH may be a NAK.
    std::set<std::string> unclear;
    for (const Direction& direction : whole.directions)
        if (std::ranges::any_of(direction.responses, [](const Seen* response) {
                return response->lacks_headers && response->is(wire::Operation::Acknowledge);
            }))
            unclear.insert(direction.where());
    for (Cause& one : causes)
        if (unclear.contains(one.where) &&
            std::ranges::any_of(one.evidence,
                                [](const Evidence& evidence) { return evidence.frame != 0; }))
            one.certainty = Certainty::Possible;
    Cause cause{.code = Code::CutCapture,
                .certainty = Certainty::Certain,
                .text = "the capture cut off headers of ",
                .evidence = {},
                .where = {}};
    const auto add = [&](const Notices& cut, std::string_view unit, std::string_view result) {
        if (cut.count == 0)
            return;
        cause.text += fmt::format("{}{}{}", cause.evidence.empty() ? "" : ", and of ",
                                  counted(cut.count, unit), result);
        cause.add(cut.first);
    };
    const Traffic::Cut& cut = whole.traffic.cut();
    add(cut.acknowledgements, "acknowledgement", " (an ACK looks like a NAK)");
    add(cut.others, "packet", " with data or a request (rkeys, addresses and lengths are missing)");
    add(cut.messages_of_manager, "message",
        " of the connection manager (PSNs and IDs are missing)");
    if (cause.evidence.empty())
        return;
    cause.text += '.';
    causes.push_back(std::move(cause));
}

}  // namespace explain
