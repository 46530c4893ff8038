#include "render/check_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "render/flow_rows.hpp"
#include "util/percentile.hpp"

namespace render {
namespace {

using conformance::GoBack;
using conformance::Recovery;
using conformance::Verdict;

struct Reason {
    std::string_view counter;
    std::string_view why;
};

constexpr auto reasons = std::to_array<Reason>({
    {"sent_pkts",
     "the host counts packets of all kinds, also those sent before the link emulator listened"},
    {"rcvd_pkts",
     "the host counts a packet only if its queue pair exists, not when it is destroyed"},
    {"duplicate_request",
     "rxe does not count requests that arrive when the queue pair is destroyed or in error"},
    {"out_of_seq_request", "rxe counts only the first packet after each gap"},
    {"rcvd_seq_err", "rxe counts only NAKs that also acknowledge a packet"},
    {"completer_retry_err",
     "rxe counts its decisions to retry, also if several lead to one retransmission"},
    {"retry_exceeded_err",
     "host only: the requester gave up where no retransmission shows it, as while it waits for a "
     "receive; capture only: the queue pair was destroyed before its last retry"},
});

std::string times(std::string_view what, const std::vector<std::int64_t>& values) {
    if (values.empty())
        return {};
    const std::int64_t most = std::ranges::max(values);
    return fmt::format("; {} {} p50, {} max", what, duration(util::percentile(values, 50)),
                       duration(most));
}

}  // namespace

std::string_view why_unequal(std::string_view counter) {
    const auto found = std::ranges::find(reasons, counter, &Reason::counter);
    return found == reasons.end() ? std::string_view() : found->why;
}

std::string host_name(const conformance::Report& report, const CheckContext& context,
                      const flow::Host& host) {
    const auto known = std::ranges::find(report.hosts, host, &conformance::HostReport::host);
    const auto network = known == report.hosts.end() ? flow::Network::Ipv4 : known->network;
    const std::string address = flow::text(host, network);
    const auto role = context.roles.find(address);
    return role == context.roles.end() ? address : role->second + " " + address;
}

std::string duration(std::int64_t ns) {
    const auto value = static_cast<double>(ns);
    if (ns < 1'000'000)
        return fmt::format("{:.0f} µs", value / 1e3);
    if (ns < 1'000'000'000)
        return fmt::format("{:.2f} ms", value / 1e6);
    return fmt::format("{:.2f} s", value / 1e9);
}

std::string how(const Recovery& recovery) {
    if (recovery.gave_up)
        return "gave up";
    if (recovery.resend)
        return recovery.seen() == GoBack::None ? "sent again" : std::string(name(recovery.seen()));
    if (recovery.verdict == Verdict::Undetermined)
        return "undetermined";
    if (recovery.ended_by)
        return "response";
    return "not needed";
}

std::string evidence(const Recovery& recovery) {
    std::string text;
    if (recovery.predicted != GoBack::None && recovery.predicted != recovery.seen())
        text = fmt::format("{} expected: ", name(recovery.predicted));
    text += recovery.prediction;
    if (recovery.behind)
        text += fmt::format(" (frame {})", *recovery.behind);
    if (recovery.nak)
        text += fmt::format("; NAK in frame {}", *recovery.nak);
    if (recovery.resend) {
        const auto& resend = *recovery.resend;
        if (resend.asked_by)
            text +=
                fmt::format("; {} arrives in frame {}", name(resend.cause), resend.asked_by->frame);
        text += fmt::format("; {} retransmitted, PSN {:#08x} to {:#08x}, from frame {}",
                            counted(resend.packets, "packet"), resend.first.psn, resend.last_psn,
                            resend.first.frame);
    }
    if (recovery.ended_by)
        text += fmt::format("; {} by frame {}", recovery.resend ? "acknowledged" : "answered",
                            *recovery.ended_by);
    return text;
}

std::string sentence(const conformance::Finding& finding) {
    if (finding.because.empty())
        return finding.text;
    return fmt::format("{} (frame {})", finding.text, fmt::join(finding.because, ", "));
}

std::string blamed(const conformance::Report& report, const CheckContext& context,
                   const conformance::Finding& finding) {
    const auto& connection = report.connections[finding.connection];
    const bool is_responder = is_responders(finding.code);
    const bool is_from = finding.forward != is_responder;
    return fmt::format("{} as {}",
                       host_name(report, context, is_from ? connection.from : connection.to),
                       is_responder ? "responder" : "requester");
}

std::vector<std::string> recovery_summaries(const conformance::Report& report) {
    std::vector<std::string> lines;
    for (const GoBack cause : {GoBack::Nak, GoBack::ImpliedNak, GoBack::RnrNak, GoBack::Timeout}) {
        std::vector<std::int64_t> detection;
        std::vector<std::int64_t> reaction;
        std::uint64_t count = 0;
        for (const Recovery& one : report.recoveries) {
            if (!one.resend || one.seen() != cause)
                continue;
            ++count;
            if (one.detection_ns)
                detection.push_back(*one.detection_ns);
            if (one.reaction_ns)
                reaction.push_back(*one.reaction_ns);
        }
        if (count != 0)
            lines.push_back(fmt::format("{} by {}{}{}", count, name(cause),
                                        times("detected in", detection),
                                        times("reacted in", reaction)));
    }
    return lines;
}

}  // namespace render
