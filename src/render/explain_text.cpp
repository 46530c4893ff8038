#include "render/explain_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "render/check_names.hpp"
#include "runlog/event.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

using explain::Evidence;
using explain::Explanation;

class ExplainText {
  public:
    ExplainText(const Explanation& explanation, const ExplainContext& context,
                const util::TextStyle& style)
        : explanation_(explanation), context_(context), style_(style) {}

    std::string made() {
        const bool is_explained = std::ranges::any_of(
            explanation_.causes, [](const explain::Cause& one) { return one.is_fatal; });
        if (explanation_.has_failed && !is_explained)
            unexplained();
        else if (explanation_.causes.empty())
            nothing_found();
        for (std::size_t i = 0; i < explanation_.causes.size(); ++i)
            if (is_leader(i))
                cause(i);
        if (is_explained)
            unanswered();
        if (!explanation_.has_failed)
            retransmissions();
        clocks();
        return std::move(out_);
    }

  private:
    static constexpr std::size_t columns = 100;

    void paragraph(std::string_view text, std::size_t indent) {
        out_ += util::wrapped(std::string(indent, ' ').append(text), columns, indent) + '\n';
    }

    void nothing_found() {
        if (explanation_.packets == 0 && context_.has_capture)
            paragraph(
                "Nothing to explain: the capture has no RoCE packet, and no log has an error.", 0);
        else
            paragraph(fmt::format("No failure{} found in {}.", is_slow() ? "" : " and no slowdown",
                                  looked_at()),
                      0);
    }

    // Of several failures, some have a cause.
    void unanswered() {
        constexpr std::size_t most = 3;
        const auto& all = explanation_.unanswered;
        for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
            out_ += '\n';
            paragraph(fmt::format("A request has no response, and nothing shows why: {}.",
                                  util::printable(all[i].where)),
                      0);
            line(all[i].last);
        }
        if (all.size() > most)
            paragraph(fmt::format("And {} more (--json has all).", all.size() - most), 0);
    }

    // Something waited for a retransmission, and nothing shows why.
    bool is_slow() const {
        return !std::ranges::all_of(explanation_.retransmissions,
                                    &explain::Retransmissions::is_by_running_timers);
    }

    void retransmissions() {
        constexpr std::size_t most = 3;
        const auto& all = explanation_.retransmissions;
        for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
            const explain::Retransmissions& one = all[i];
            out_ += '\n';
            paragraph(
                fmt::format(
                    "{} retransmitted, {}: {}.",
                    one.packets == 1 ? "1 packet was" : fmt::format("{} packets were", one.packets),
                    one.is_by_running_timers ? "because a timer ran on that an earlier request had "
                                               "started, as in Soft-RoCE"
                                             : "and nothing shows why",
                    util::printable(one.where)),
                0);
            for (const Evidence& shown : one.evidence)
                line(shown);
            if (one.cost_ns > 0)
                paragraph(fmt::format("Time lost: about {}.", duration(one.cost_ns)), 3);
        }
        if (all.size() > most)
            paragraph(fmt::format("And {} more (--json has all).", all.size() - most), 0);
        if (is_slow() && !explanation_.is_of_both_ends)
            paragraph("A capture at both ends (--end) shows whether packets were lost.", 0);
    }

    void unexplained() {
        paragraph(style_(util::TextRole::Bad, "Something failed, and the cause is unknown.") +
                      " What shows the failure:",
                  0);
        for (const Evidence& sign : explanation_.signs)
            line(sign);
        if (context_.logs < 2)
            paragraph(
                context_.logs == 0
                    ? "Run logs (--log) of both programs give more evidence: rocetrace writes them."
                    : "The run log of the other end (--log) gives more evidence.",
                2);
        if (!context_.has_capture)
            paragraph("A capture gives more evidence: run rocecap live -w, then rocecap explain.",
                      2);
    }

    std::string looked_at() const {
        std::string what;
        if (context_.has_capture)
            what = fmt::format("{} RoCE packets", explanation_.packets);
        if (context_.logs != 0)
            what += fmt::format("{}{} run log{}", what.empty() ? "" : " and ", context_.logs,
                                context_.logs == 1 ? "" : "s");
        return what;
    }

    void clocks() {
        if (!explanation_.clocks.empty() && !explanation_.causes.empty())
            out_ += '\n';
        for (const explain::ClockOffset& one : explanation_.clocks)
            paragraph(
                fmt::format(
                    "{}: the clock of this log is {} {} the capture's, which was "
                    "allowed for.{}",
                    util::printable(one.role), duration(std::abs(one.offset_ns)),
                    one.offset_ns < 0 ? "ahead of" : "behind",
                    explanation_.causes.empty() ? "" : " The times above are those of the log."),
                0);
    }

    // If connections share a cause, the first is shown and the others are named.
    bool is_like(std::size_t a, std::size_t b) const {
        // Each rejection and each failed call has its own reason.
        const explain::Code code = explanation_.causes[a].code;
        const bool has_reason =
            code == explain::Code::CmRejected || code == explain::Code::CallFailed;
        if (has_reason && explanation_.causes[a].text != explanation_.causes[b].text)
            return false;
        return explanation_.causes[a].code == explanation_.causes[b].code &&
               explanation_.causes[a].is_fatal == explanation_.causes[b].is_fatal &&
               (code == explain::Code::TimeoutTooShort ||  // advice with the values of one of them
                explanation_.causes[a].advice() == explanation_.causes[b].advice());
    }
    bool is_leader(std::size_t i) const {
        for (std::size_t before = 0; before < i; ++before)
            if (is_like(before, i))
                return false;
        return true;
    }

    void others_like(std::size_t i) {
        constexpr std::size_t most = 3;
        std::size_t count = 0;
        std::string names;
        for (std::size_t other = i + 1; other < explanation_.causes.size(); ++other)
            if (is_like(i, other) && count++ < most)
                names +=
                    (names.empty() ? "" : "; ") + util::printable(explanation_.causes[other].where);
        if (count == 0)
            return;
        if (count > most)
            names += fmt::format("; and {} more (--json has all)", count - most);
        paragraph("Also: " + names, 3);
    }

    void cause(std::size_t i) {
        const explain::Cause& one = explanation_.causes[i];
        if (!out_.empty())
            out_ += '\n';
        out_ += fmt::format("{}. {} ({}{})", ++number_,
                            style_(one.is_fatal ? util::TextRole::Bad : util::TextRole::Notice,
                                   explain::name(one.code)),
                            explain::name(one.certainty), one.is_fatal ? "" : ", not fatal");
        if (!one.where.empty())
            out_ += "  " + util::printable(one.where);
        out_ += '\n';
        paragraph(sentence(util::printable(one.text)), 3);
        constexpr std::size_t most = 12;
        for (std::size_t e = 0; e < std::min(one.evidence.size(), most); ++e)
            line(one.evidence[e]);
        if (context_.shows_why)
            why(one);
        if (one.cost_ns > 0)
            paragraph(fmt::format("Time lost: about {}.", duration(one.cost_ns)), 3);
        others_like(i);
        paragraph(fmt::format("Try: {}", one.advice()), 3);
    }

    void why(const explain::Cause& one) {
        for (const explain::Excluded& other : one.excluded)
            paragraph(fmt::format("Not {}: {}.", explain::name(other.code),
                                  util::printable(other.because)),
                      3);
        std::string open;
        for (const explain::Code other : one.open)
            open += fmt::format("{}{}", open.empty() ? "" : ", ", explain::name(other));
        if (!open.empty())
            paragraph(fmt::format("Not excluded: {}.", open), 3);
        if (one.certainty == explain::Certainty::Certain && one.excluded.empty())
            paragraph("No other known cause has this evidence.", 3);
    }

    static std::string sentence(std::string text) {
        if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
            text.front() = static_cast<char>(text.front() - 'a' + 'A');
        return text;
    }

    void line(const Evidence& one) {
        std::string begin;
        if (one.frame != 0)
            begin = fmt::format("   frame {:<8} {:>11.6f}  ", one.frame,
                                static_cast<double>(one.t_ns - context_.begin_ns) / 1e9);
        else
            begin = fmt::format("   {:<10} {:>15}  ", util::printable(one.role),
                                one.t_ns == 0 ? "" : runlog::time_of_day(one.t_ns));
        // Longer texts continue below their beginning.
        constexpr std::size_t indent = 31;
        out_ += style_(util::TextRole::Dim, begin) +
                util::continued(util::printable(one.text), columns, indent) + '\n';
    }

    const explain::Explanation& explanation_;
    const ExplainContext& context_;
    util::TextStyle style_;
    std::string out_;
    std::size_t number_ = 0;  // number of the last cause shown
};

util::Json json_of(const Evidence& one) {
    util::Json json{{"text", one.text}};
    if (one.frame != 0)
        json["frame"] = one.frame;
    else
        json["role"] = one.role;
    if (one.t_ns != 0)
        json["t_ns"] = one.t_ns;
    return json;
}

util::Json json_of(const std::vector<Evidence>& all) {
    util::Json json = util::Json::array();
    for (const Evidence& one : all)
        json.push_back(json_of(one));
    return json;
}

}  // namespace

std::string explain_text(const Explanation& explanation, const ExplainContext& context,
                         const util::TextStyle& style) {
    return ExplainText(explanation, context, style).made();
}

std::string explain_json(const Explanation& explanation, const ExplainContext& context) {
    util::Json causes = util::Json::array();
    for (const explain::Cause& one : explanation.causes) {
        util::Json excluded = util::Json::array();
        for (const explain::Excluded& other : one.excluded)
            excluded.push_back({{"code", explain::name(other.code)}, {"because", other.because}});
        util::Json open = util::Json::array();
        for (const explain::Code other : one.open)
            open.push_back(explain::name(other));
        causes.push_back({{"code", explain::name(one.code)},
                          {"certainty", explain::name(one.certainty)},
                          {"fatal", one.is_fatal},
                          {"where", one.where},
                          {"text", one.text},
                          {"cost_ns", one.cost_ns},
                          {"evidence", json_of(one.evidence)},
                          {"excluded", excluded},
                          {"open", open},
                          {"advice", std::string(one.advice())}});
    }
    util::Json retransmissions = util::Json::array();
    for (const explain::Retransmissions& one : explanation.retransmissions)
        retransmissions.push_back({{"where", one.where},
                                   {"packets", one.packets},
                                   {"cost_ns", one.cost_ns},
                                   {"running_timers", one.is_by_running_timers},
                                   {"evidence", json_of(one.evidence)}});
    util::Json unanswered = util::Json::array();
    for (const explain::Unanswered& one : explanation.unanswered)
        unanswered.push_back({{"where", one.where}, {"last", json_of(one.last)}});
    util::Json clocks = util::Json::array();
    for (const explain::ClockOffset& one : explanation.clocks)
        clocks.push_back({{"role", one.role}, {"offset_ns", one.offset_ns}});
    const util::Json json{{"failed", explanation.has_failed},
                          {"packets", explanation.packets},
                          {"logs", context.logs},
                          {"clocks", clocks},
                          {"signs", json_of(explanation.signs)},
                          {"unanswered", unanswered},
                          {"retransmissions", retransmissions},
                          {"causes", causes}};
    return json.dump(-1, ' ', false, util::Json::error_handler_t::replace);
}

}  // namespace render
