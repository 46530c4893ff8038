#include "render/check_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "render/check_names.hpp"
#include "render/flow_rows.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

using conformance::ConnectionReport;
using conformance::HalfReport;
using conformance::Recovery;
using conformance::Verdict;

constexpr std::size_t line_width = 100;

util::TextRole role_of(Verdict verdict) {
    return verdict == Verdict::Deviation      ? util::TextRole::Bad
           : verdict == Verdict::Undetermined ? util::TextRole::Notice
                                              : util::TextRole::Plain;
}

class Text {
  public:
    Text(const conformance::Report& report, const CheckContext& context,
         const util::TextStyle& style)
        : report_(report), context_(context), style_(style) {}

    std::string made() {
        if (report_.one_point)
            one_point();
        for (std::size_t i = 0; i < report_.connections.size(); ++i)
            connection(i);
        recoveries();
        unknowable();
        findings();
        counters();
        return std::move(out_);
    }

  private:
    std::string name_of(const flow::Host& host) const { return host_name(report_, context_, host); }

    void line(std::string_view text) {
        out_ += text;
        out_.erase(out_.find_last_not_of(' ') + 1);
        out_ += '\n';
    }
    /// Adds a sentence below a row, wrapped at the line width.
    void remark(std::string_view text, std::size_t indent, util::TextRole role) {
        const std::string broken = util::wrapped(text, line_width - indent, 0);
        std::string_view rest = broken;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            line(std::string(indent, ' ') + style_(role, rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    void heading(std::string_view text) { line("\n" + std::string(text)); }

    void one_point() {
        remark(report_.one_point->host
                   ? fmt::format("Captured at {}. This host is judged. The other hosts are judged "
                                 "only where no missing packet can be the explanation.",
                                 name_of(*report_.one_point->host))
                   : std::string("Captured at one place (name its host with --at). The hosts are "
                                 "judged only where no missing packet can be the explanation."),
               0, util::TextRole::Notice);
        remark(completeness(), 0, util::TextRole::Notice);
        out_ += '\n';
    }

    std::string_view completeness() const {
        switch (report_.completeness) {
            case conformance::Completeness::Assumed:
                break;
            case conformance::Completeness::Known:
                return "The capture dropped no packet.";
            case conformance::Completeness::Lossy:
                return "Packets may be missing: what one of them may explain is not judged.";
        }
        return "The capture is assumed to be complete. If packets may be missing, use --lossy.";
    }

    void connection(std::size_t i) {
        const ConnectionReport& one = report_.connections[i];
        const auto qp = [](const std::optional<std::uint32_t>& qpn) {
            return qpn ? fmt::format(" qp {:#x}", *qpn) : std::string(" qp unknown");
        };
        std::string title =
            fmt::format("{}  {}{} ↔ {}{}", style_(util::TextRole::Dim, fmt::format("#{}", i + 1)),
                        name_of(one.from), qp(one.from_qpn), name_of(one.to), qp(one.to_qpn));
        if (one.path_mtu != 0)
            title += fmt::format("  path MTU {}", one.path_mtu);
        line(title);
        if (one.pairing == flow::Pairing::AckGuess)
            remark("paired by a guess: PSNs of responses fit the other's requests", 4,
                   util::TextRole::Notice);
        if (one.pairing == flow::Pairing::LeftOver)
            remark("paired by a guess: no other directions are left between these hosts", 4,
                   util::TextRole::Notice);
        half(one.forward, one.from, one.to);
        half(one.backward, one.to, one.from);
    }

    // In a capture at one host, only the packets that this host sent are judged.
    bool is_judged(const HalfReport& one, const flow::Host& requester,
                   const flow::Host& responder) const {
        if (!report_.one_point)
            return true;
        const auto& place = report_.one_point->host;
        return (one.requests == 0 || place == requester) &&
               (one.responses == 0 || place == responder);
    }

    void half(const HalfReport& one, const flow::Host& requester, const flow::Host& responder) {
        if (one.requests == 0 && one.responses == 0)
            return;
        std::string verdict =
            style_(util::TextRole::Request,
                   util::padded(
                       is_judged(one, requester, responder) ? "as specified" : "no deviation", 16));
        if (one.findings != 0)
            verdict =
                style_(util::TextRole::Bad, util::padded(counted(one.findings, "deviation"), 16));
        else if (one.unknowable != 0 || one.cut != 0)
            verdict = style_(util::TextRole::Notice, util::padded("cannot be judged", 18));
        std::string text = fmt::format("requests of {}: {}", name_of(requester), one.requests);
        if (one.repeated != 0)
            text += fmt::format(", {} of them retransmitted", one.repeated);
        if (one.responses != 0)
            text += fmt::format("; {}", counted(one.responses, "response"));
        line("    " + verdict + text);
        const auto also = [&](const std::string& clause, util::TextRole role) {
            remark(clause, 20, role);
        };
        if (one.copied != 0)
            also(
                fmt::format("{} of them captured again with the same IP identification: sent once, "
                            "and copied before the capture",
                            one.copied),
                util::TextRole::Dim);
        if (one.events() != 0)
            also(events(one), util::TextRole::Dim);
        if (one.unknowable != 0)
            also(fmt::format("{} cannot be judged", counted(one.unknowable, "place")),
                 util::TextRole::Notice);
        if (one.cut != 0)
            also(fmt::format("the capture cut off headers of {}: capture at least 384 bytes of "
                             "each packet",
                             counted(one.cut, "packet")),
                 util::TextRole::Notice);
        if (one.began_in_the_middle)
            also(
                "the capture begins in the middle of the connection: references to earlier packets "
                "are not judged",
                util::TextRole::Notice);
        if (one.out_of_order != 0)
            also(fmt::format(
                     "packets recorded in another order than they passed at {}: what depends on "
                     "order or times is not judged",
                     counted(one.out_of_order, "place")),
                 util::TextRole::Notice);
        if (one.missing.psns != 0)
            also(fmt::format(
                     "the capture lacks requests of {}, from PSN {:#08x} on, although they were "
                     "acknowledged (frame {}): what a missing packet may explain is not judged",
                     counted(one.missing.psns, "PSN"), one.missing.first, one.missing.frame),
                 util::TextRole::Notice);
        if (one.gave_up_after)
            also(fmt::format("the requester gave up after {} without an acknowledgement",
                             counted(*one.gave_up_after, "retransmission")),
                 util::TextRole::Notice);
        if (one.silent_since)
            also(fmt::format("no response from frame {} on: the queue pair may no longer exist",
                             *one.silent_since),
                 util::TextRole::Notice);
    }

    std::string events(const HalfReport& one) const {
        std::string text;
        const std::string_view where = report_.one_point ? "on the path: " : "on the link: ";
        const auto add = [&](std::uint64_t count, std::string_view what) {
            if (count != 0)
                text += fmt::format("{}{} {}", text.empty() ? where : ", ", count, what);
        };
        add(one.lost, "lost");
        add(one.doubled, "duplicated");
        add(one.reordered, "reordered");
        add(one.corrupted, "corrupted");
        add(one.changed, "changed");
        return text;
    }

    template <typename Rows, typename Print>
    void limited(const Rows& rows, std::string_view what, Print print) {
        std::size_t shown = 0;
        for (const auto& row : rows) {
            if (context_.most_rows != 0 && shown == context_.most_rows) {
                line(style_(util::TextRole::Notice,
                            fmt::format("  ... and {} more {}: --all lists them",
                                        rows.size() - shown, what)));
                return;
            }
            print(row);
            ++shown;
        }
    }

    void recoveries() {
        if (report_.one_point)
            return;  // the capture does not contain lost packets
        if (report_.recoveries.empty()) {
            heading(
                "The link lost, changed, doubled and reordered no packet of a reliable "
                "connection.");
            return;
        }
        heading("Recoveries");
        line(style_(util::TextRole::Dim,
                    fmt::format("{:>7}  {:<10}{:<21}{:<10}{:<12}{:>10}{:>10}  {}", "frame", "event",
                                "packet", "PSN", "recovered", "detected", "reacted", "verdict")));
        limited(report_.recoveries, "recoveries", [&](const Recovery& one) { recovery(one); });
        if (report_.recoveries_left_out != 0)
            line(style_(util::TextRole::Notice,
                        fmt::format("  ... and {} more recoveries: too many to keep",
                                    report_.recoveries_left_out)));
        for (const std::string& summary : recovery_summaries(report_))
            line("  " + summary);
    }

    void recovery(const Recovery& one) {
        const auto time = [](const std::optional<std::int64_t>& ns) {
            return ns ? duration(*ns) : std::string("-");
        };
        std::string row =
            fmt::format("{:>7}  {:<10}{:<20} {:<10}{:<12}", one.packet.frame, name(one.packet.fate),
                        conformance::short_name(*one.packet.opcode),
                        fmt::format("{:#08x}", one.packet.psn), how(one));
        row += right(time(one.detection_ns), 10) + right(time(one.reaction_ns), 10);
        line(row + "  " + style_(role_of(one.verdict), name(one.verdict)));
        const std::string of = report_.connections.size() > 1
                                   ? fmt::format("#{}: ", one.connection + 1)
                                   : std::string();
        remark(of + evidence(one), 9, util::TextRole::Dim);
        const auto rule = context_.rules.find(one.packet.frame);
        if (rule != context_.rules.end())
            remark("link: " + util::printable(rule->second), 9, util::TextRole::Dim);
    }

    static std::string right(const std::string& text, std::size_t width) {
        const std::size_t own = util::display_width(text);
        return std::string(own < width ? width - own : 1, ' ') + text;
    }

    // Counts by code: with this much missing, a list of single findings would add nothing.
    void unknowable() {
        if (report_.unknowable.empty())
            return;
        heading(style_(util::TextRole::Notice, "Cannot be judged"));
        remark(report_.one_point ? "The capture does not show packets that were lost elsewhere. "
                                   "Such a packet may explain each of these findings."
                                 : "Packets were lost between a host and the capture (netem). A "
                                   "lost packet may explain each of these findings.",
               2, util::TextRole::Plain);
        std::map<conformance::Code, std::uint64_t> counts;
        for (const conformance::Finding& one : report_.unknowable)
            ++counts[one.code];
        for (const conformance::LeftOut& more : report_.left_out)
            if (more.is_unknowable)
                counts[more.code] += more.count;
        for (const auto& [code, count] : counts)
            line(fmt::format(
                "{:>7}  {}{}", count, util::padded(name(code), 26),
                style_(util::TextRole::Dim, fmt::format("IBTA volume 1, {}", section(code)))));
    }

    void findings() {
        if (report_.findings.empty()) {
            heading(none_found());
            return;
        }
        heading(style_(util::TextRole::Bad, "Deviations"));
        limited(report_.findings, "deviations", [&](const conformance::Finding& one) {
            line(fmt::format(
                "{:>7}  {}{}", one.frame,
                style_(util::TextRole::Bad, util::padded(name(one.code), 26)),
                style_(util::TextRole::Dim,
                       fmt::format("#{}  {}; IBTA volume 1, {}", one.connection + 1,
                                   blamed(report_, context_, one), section(one.code)))));
            remark(sentence(one), 9, util::TextRole::Plain);
        });
        for (const conformance::LeftOut& more : report_.left_out)
            if (!more.is_unknowable)
                line(style_(util::TextRole::Notice,
                            fmt::format("  ... and {} more {} of #{}: too many to keep", more.count,
                                        name(more.code), more.connection + 1)));
    }

    std::string_view none_found() const {
        if (report_.judges_nothing())
            return "Nothing was judged.";
        return report_.leaves_open() ? "No deviation from the specification in what can be judged."
                                     : "No deviation from the specification.";
    }

    void counters() {
        if (context_.counters.empty())
            return;
        heading("Counters");
        line(style_(util::TextRole::Dim, fmt::format("  {:<10}{:<24}{:>12}{:>12}", "host",
                                                     "counter", "host count", "capture")));
        for (const CounterRow& row : context_.counters) {
            const std::string text = fmt::format("  {:<10}{:<24}{:>12}{:>12}", row.host, row.name,
                                                 row.counted, row.captured);
            line(text + (row.is_equal() ? "" : style_(util::TextRole::Notice, "  differs")));
            if (!row.is_equal() && !why_unequal(row.name).empty())
                remark(why_unequal(row.name), 12, util::TextRole::Dim);
        }
    }

    const conformance::Report& report_;
    const CheckContext& context_;
    const util::TextStyle& style_;
    std::string out_;
};

}  // namespace

std::string check_text(const conformance::Report& report, const CheckContext& context,
                       const util::TextStyle& style) {
    return Text(report, context, style).made();
}

}  // namespace render
