#include "render/work_request_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "util/percentile.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

using timeline::WorkRequest;
using Span = std::optional<std::int64_t>;  // nanoseconds

constexpr std::size_t most_lines = 12;

// Phases of a request. Only the first compares two hosts' clocks.
constexpr std::array spans{"post → wire", "wire → ACK", "post → wc"};
using Spans = std::array<Span, spans.size()>;

Span between(Span from, Span to) {
    return from && to ? Span(*to - *from) : std::nullopt;
}

Spans spans_of(const WorkRequest& request, std::int64_t shift) {
    return {between(request.posted_ns + shift, request.first_seen_ns),
            between(request.first_seen_ns, request.acknowledged_ns),
            between(request.posted_ns, request.completed_ns)};
}

std::string text_of(const Span& span) {
    constexpr std::int64_t ten_seconds = 10'000'000'000;
    if (!span)
        return "-";
    if (std::abs(*span) >= ten_seconds)
        return fmt::format("{:.3f} s", static_cast<double>(*span) / 1e9);
    return fmt::format("{:.3f} ms", static_cast<double>(*span) / 1e6);
}

constexpr std::size_t begin_width = 64;

// A long text shortens the space between the two.
std::string begin(const std::string& what, const std::string& packets) {
    const std::size_t left = begin_width - std::min(begin_width, what.size());
    return fmt::format("{}{:>{}}", what, packets, std::max(left, packets.size() + 1));
}

std::string line(const std::string& what, const std::string& packets, const Spans& values) {
    std::string text = begin(what, packets);
    for (const Span& value : values)
        text += fmt::format("{:>12}", text_of(value));
    return text + "\n";
}

std::string line(const WorkRequest& request, std::int64_t shift) {
    std::string packets = fmt::format("{} + {}", request.sent, request.answers);
    if (request.repeats > 0)
        packets += fmt::format(", {} again", request.repeats);
    const std::string status = util::printable(request.status);
    std::string what = fmt::format("{} QP {:#08x} wr {} {} {} B", request.role, request.qpn,
                                   request.wr_id, util::printable(request.opcode), request.length);
    const Spans took = spans_of(request, shift);
    if (status.empty() || status == "SUCCESS")
        return line(what, packets, took);
    // An error is on the request's line, or on the next line if it does not fit.
    const std::string with_status = what + " " + status;
    return with_status.size() + 1 + packets.size() <= begin_width
               ? line(with_status, packets, took)
               : line(what, packets, took) + "    " + status + "\n";
}

std::string percentiles(const std::vector<const WorkRequest*>& requests,
                        const timeline::Matcher& run) {
    std::array<std::vector<std::int64_t>, spans.size()> values;
    for (const WorkRequest* request : requests) {
        const Spans of_one = spans_of(*request, run.shift_of(request->role));
        for (std::size_t i = 0; i < values.size(); ++i)
            if (of_one[i])
                values[i].push_back(*of_one[i]);
    }
    std::string text;
    for (const auto& [name, percent] : {std::pair{"half of all", 50}, {"99 of 100", 99}}) {
        Spans row;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!values[i].empty())
                row[i] = util::percentile(values[i], percent);
        text += line(fmt::format("{} took at most", name), "", row);
    }
    return text;
}

}  // namespace

std::string work_request_table(const timeline::Matcher& run) {
    auto requests = run.work_requests();
    if (requests.empty())
        return {};
    std::ranges::stable_sort(requests, {}, [&](const WorkRequest* request) {
        return request->posted_ns + run.shift_of(request->role);
    });
    std::string text = "\n" + begin("work request", "sent + responses");
    for (const char* span : spans)
        text += fmt::format("{:>12}", span);
    text += "\n";
    for (std::size_t i = 0; i < std::min(requests.size(), most_lines); ++i)
        text += line(*requests[i], run.shift_of(requests[i]->role));
    if (requests.size() > most_lines)
        text += fmt::format("… and {} more work requests\n", requests.size() - most_lines) +
                percentiles(requests, run);
    return text;
}

}  // namespace render
