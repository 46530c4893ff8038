// Whole outputs of an explanation, as text and as JSON.
#include <gtest/gtest.h>

#include "render/explain_text.hpp"
#include "util/json.hpp"

namespace explain_output_test {

using explain::Cause;
using explain::Certainty;
using explain::Code;
using explain::Explanation;
using render::ExplainContext;

std::string text(const Explanation& explanation, const ExplainContext& context) {
    return render::explain_text(explanation, context, util::TextStyle());
}

Cause cause(Code code, std::string sentence, std::string where, bool is_fatal) {
    return {.code = code,
            .certainty = Certainty::Likely,
            .text = std::move(sentence),
            .evidence = {},
            .where = std::move(where),
            .is_fatal = is_fatal};
}

// What follows "Try: " in the text: the advice, on as many lines as it needs.
std::string advice_lines(Code code) {
    const std::string lines =
        util::wrapped("Try: " + std::string(explain::advice(code)), 100 - 3, 0);
    std::string indented;
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        indented += "   " + lines.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return indented;
}

TEST(ExplainOutput, a_good_run_says_what_was_looked_at) {
    const std::string found = "No failure and no slowdown found in ";
    Explanation good;
    good.packets = 7;
    EXPECT_EQ(text(good, {.has_capture = true, .logs = 0, .begin_ns = 0}),
              found + "7 RoCE packets.\n");
    EXPECT_EQ(text(good, {.has_capture = true, .logs = 1, .begin_ns = 0}),
              found + "7 RoCE packets and 1 run log.\n");
    EXPECT_EQ(text(good, {.has_capture = true, .logs = 2, .begin_ns = 0}),
              found + "7 RoCE packets and 2 run logs.\n");
    good.packets = 0;
    EXPECT_EQ(text(good, {.has_capture = false, .logs = 2, .begin_ns = 0}),
              found + "2 run logs.\n");
    EXPECT_EQ(text(good, {.has_capture = true, .logs = 2, .begin_ns = 0}),
              "Nothing to explain: the capture has no RoCE packet, and no log has an error.\n");
}

TEST(ExplainOutput, a_failure_without_a_cause_shows_its_signs_and_what_would_tell_more) {
    Explanation failed;
    failed.has_failed = true;
    failed.signs = {{.frame = 12, .role = "", .t_ns = 2'500'000'000, .text = "RC Acknowledge NAK"},
                    {.frame = 0,
                     .role = "client",
                     .t_ns = ((3 * 60 + 19) * 60 + 41) * 1'000'000'000LL + 647'730'999,
                     .text = "wc REM_OP_ERR"},
                    {.frame = 0, .role = "server", .t_ns = 0, .text = "timeout 14"}};
    const std::string shown =
        "Something failed, and the cause is unknown. What shows the failure:\n"
        "   frame 12          1.500000  RC Acknowledge NAK\n"
        "   client     03:19:41.647730  wc REM_OP_ERR\n"
        "   server                      timeout 14\n";
    const std::string logs =
        "  Run logs (--log) of both programs give more evidence: rocetrace writes them.\n";
    const std::string log = "  The run log of the other end (--log) gives more evidence.\n";
    const std::string capture =
        "  A capture gives more evidence: run rocecap live -w, then rocecap explain.\n";
    const auto with = [&](bool has_capture, std::size_t count) {
        return text(failed, {.has_capture = has_capture, .logs = count, .begin_ns = 1'000'000'000});
    };
    EXPECT_EQ(with(true, 0), shown + logs);
    EXPECT_EQ(with(true, 1), shown + log);
    EXPECT_EQ(with(true, 2), shown);
    EXPECT_EQ(with(false, 0), shown + logs + capture);
    EXPECT_EQ(with(false, 2), shown + capture);
}

explain::Retransmissions again(std::string where, std::uint64_t packets, std::int64_t cost_ns) {
    return {.where = std::move(where),
            .packets = packets,
            .cost_ns = cost_ns,
            .evidence = {{.frame = 9, .role = "", .t_ns = 1'000'000, .text = "RC SEND Only"}}};
}

TEST(ExplainOutput, retransmissions_without_a_cause_are_a_slowdown) {
    Explanation slow;
    slow.packets = 7;
    slow.retransmissions = {again("a → b, QP 1", 3, 67'000'000), again("b → a, QP 2", 1, 0)};
    const ExplainContext context{.has_capture = true, .logs = 0, .begin_ns = 0};
    const std::string shown =
        "No failure found in 7 RoCE packets.\n\n"
        "3 packets were retransmitted, and nothing shows why: a → b, QP 1.\n"
        "   frame 9           0.001000  RC SEND Only\n"
        "   Time lost: about 67.00 ms.\n\n"
        "1 packet was retransmitted, and nothing shows why: b → a, QP 2.\n"
        "   frame 9           0.001000  RC SEND Only\n";
    EXPECT_EQ(text(slow, context),
              shown + "A capture at both ends (--end) shows whether packets were lost.\n");
    slow.is_of_both_ends = true;
    EXPECT_EQ(text(slow, context), shown);
    slow.retransmissions.resize(5, again("c → d, QP 3", 1, 0));
    EXPECT_TRUE(text(slow, context).ends_with("And 2 more (--json has all).\n"));
    slow.has_failed = true;
    EXPECT_EQ(text(slow, context).find("retransmitted"), std::string::npos);
}

TEST(ExplainOutput, timers_that_ran_on_are_no_slowdown) {
    Explanation good;
    good.packets = 7;
    good.retransmissions = {again("a → b, QP 1", 1, 0)};
    good.retransmissions.front().is_by_running_timers = true;
    EXPECT_EQ(text(good, {.has_capture = true, .logs = 0, .begin_ns = 0}),
              "No failure and no slowdown found in 7 RoCE packets.\n\n"
              "1 packet was retransmitted, because a timer ran on that an earlier request had "
              "started, as in\nSoft-RoCE: a → b, QP 1.\n"
              "   frame 9           0.001000  RC SEND Only\n");
}

TEST(ExplainJson, has_retransmissions) {
    Explanation slow;
    slow.retransmissions = {again("a", 3, 67)};
    EXPECT_EQ(
        util::Json::parse(render::explain_json(slow, {}))["retransmissions"],
        util::Json::parse(R"([{"where":"a","packets":3,"cost_ns":67,"running_timers":false,)"
                          R"("evidence":[{"text":"RC SEND Only","frame":9,"t_ns":1000000}]}])"));
}

TEST(ExplainOutput, a_time_of_day_begins_again_at_midnight) {
    Explanation failed;
    failed.has_failed = true;
    failed.signs = {{.frame = 0, .role = "client", .t_ns = 86'399'999'999'000, .text = "a"},
                    {.frame = 0, .role = "client", .t_ns = 86'400'000'001'000, .text = "b"}};
    const std::string shown = text(failed, {.has_capture = true, .logs = 2, .begin_ns = 0});
    EXPECT_NE(shown.find("   client     23:59:59.999999  a\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("   client     00:00:00.000001  b\n"), std::string::npos) << shown;
}

TEST(ExplainOutput, causes_are_numbered_with_their_certainty_place_and_advice) {
    Explanation failed;
    failed.has_failed = true;
    failed.causes = {cause(Code::WrongRkey, "zero is no key.", "client → server", true),
                     cause(Code::Loss, "Some were lost.", "", false)};
    failed.causes[0].certainty = Certainty::Certain;
    failed.causes[1].certainty = Certainty::Possible;
    failed.causes[1].cost_ns = 1'250'000;
    EXPECT_EQ(text(failed, {.has_capture = true, .logs = 2, .begin_ns = 0}),
              "1. wrong-rkey (certain)  client → server\n   Zero is no key.\n" +
                  advice_lines(Code::WrongRkey) +
                  "\n2. loss (possible, not fatal)\n   Some were lost.\n"
                  "   Time lost: about 1.25 ms.\n" +
                  advice_lines(Code::Loss));
}

TEST(ExplainOutput, a_failure_without_a_cause_comes_before_other_causes) {
    Explanation failed;
    failed.has_failed = true;
    failed.causes = {cause(Code::Loss, "Some were lost.", "", false)};
    const ExplainContext context{.has_capture = true, .logs = 2, .begin_ns = 0};
    const std::string unexplained =
        "Something failed, and the cause is unknown. What shows the failure:\n";
    EXPECT_TRUE(text(failed, context).starts_with(unexplained + "\n1. loss (likely, not fatal)\n"));
    failed.causes.push_back(cause(Code::PeerGone, "It ended.", "", true));
    EXPECT_EQ(text(failed, context).find(unexplained), std::string::npos);
    failed.causes.pop_back();
    failed.has_failed = false;
    EXPECT_EQ(text(failed, context).find(unexplained), std::string::npos);
}

// Without a fatal cause, the signs show them.
TEST(ExplainOutput, requests_without_a_response_follow_the_failures_that_have_a_cause) {
    Explanation failed;
    failed.has_failed = true;
    failed.unanswered = {
        {.where = "a → b, QP 1",
         .last = {.frame = 9, .role = {}, .t_ns = 1'000'000, .text = "RC SEND Only"}}};
    failed.causes = {cause(Code::Loss, "Some were lost.", "", false)};
    const ExplainContext context{.has_capture = true, .logs = 2, .begin_ns = 0};
    const std::string one =
        "\nA request has no response, and nothing shows why: a → b, QP 1.\n"
        "   frame 9           0.001000  RC SEND Only\n";
    EXPECT_EQ(text(failed, context).find(one), std::string::npos);
    failed.causes.front().is_fatal = true;
    EXPECT_TRUE(text(failed, context).ends_with(advice_lines(Code::Loss) + one));
    failed.unanswered.resize(4, failed.unanswered.front());
    EXPECT_TRUE(
        text(failed, context).ends_with(one + one + one + "And 1 more (--json has all).\n"));
    EXPECT_EQ(util::Json::parse(render::explain_json(failed, {}))["unanswered"][3],
              util::Json::parse(R"({"where":"a → b, QP 1","last":{"text":"RC SEND Only",)"
                                R"("frame":9,"t_ns":1000000}})"));
}

TEST(ExplainOutput, connections_whose_timeouts_are_too_short_are_named_below_the_first) {
    Explanation slow;
    for (const char* advice : {"Set timeout to 17.", "Set timeout to 16."}) {
        slow.causes.push_back(cause(Code::TimeoutTooShort, "Late.", "QP 1", false));
        slow.causes.back().try_this = advice;
    }
    EXPECT_EQ(text(slow, {.has_capture = true, .logs = 2, .begin_ns = 0}),
              "1. timeout-too-short (likely, not fatal)  QP 1\n   Late.\n   Also: QP 1\n"
              "   Try: Set timeout to 17.\n");
}

TEST(ExplainOutput, connections_with_the_same_cause_are_named_below_the_first) {
    Explanation failed;
    const ExplainContext context{.has_capture = true, .logs = 2, .begin_ns = 0};
    const std::string first = "1. loss (likely, not fatal)  QP 1\n   Lost.\n";
    const auto add = [&](const char* where, bool is_fatal = false, Code code = Code::Loss) {
        failed.causes.push_back(cause(code, "Lost.", where, is_fatal));
    };
    add("QP 1");
    EXPECT_EQ(text(failed, context), first + advice_lines(Code::Loss));
    add("QP 2");
    EXPECT_EQ(text(failed, context), first + "   Also: QP 2\n" + advice_lines(Code::Loss));
    add("QP 3");
    add("QP 4");
    EXPECT_EQ(text(failed, context),
              first + "   Also: QP 2; QP 3; QP 4\n" + advice_lines(Code::Loss));
    add("QP 5");
    add("QP 6");
    const std::string all = first + "   Also: QP 2; QP 3; QP 4; and 2 more (--json has all)\n" +
                            advice_lines(Code::Loss);
    EXPECT_EQ(text(failed, context), all);
    add("QP 7", true);
    add("QP 8", false, Code::Congestion);
    EXPECT_EQ(text(failed, context), all + "\n2. loss (likely)  QP 7\n   Lost.\n" +
                                         advice_lines(Code::Loss) +
                                         "\n3. congestion (likely, not fatal)  QP 8\n   Lost.\n" +
                                         advice_lines(Code::Congestion));
}

TEST(ExplainOutput, at_most_twelve_lines_of_evidence_are_shown) {
    Explanation failed;
    failed.causes = {cause(Code::Loss, "Lost.", "", false)};
    for (std::uint64_t frame = 1; frame <= 13; ++frame)
        failed.causes[0].add({.frame = frame, .role = "", .t_ns = 0, .text = "RC SEND Only"});
    const std::string shown = text(failed, {.has_capture = true, .logs = 2, .begin_ns = 0});
    EXPECT_NE(shown.find("frame 12 "), std::string::npos);
    EXPECT_EQ(shown.find("frame 13 "), std::string::npos);
}

TEST(ExplainOutput, only_a_small_first_letter_becomes_a_capital) {
    Explanation failed;
    const ExplainContext context{.has_capture = true, .logs = 2, .begin_ns = 0};
    for (const auto& [before, after] :
         {std::pair{"a.", "A."}, {"z.", "Z."}, {"`.", "`."}, {"{.", "{."}, {"Q.", "Q."}}) {
        failed.causes = {cause(Code::Loss, before, "", false)};
        EXPECT_EQ(text(failed, context), "1. loss (likely, not fatal)\n   " + std::string(after) +
                                             "\n" + advice_lines(Code::Loss));
    }
}

TEST(ExplainOutput, colours_tell_a_fatal_cause_from_others) {
    Explanation failed;
    failed.causes = {cause(Code::WrongRkey, "A.", "", true), cause(Code::Loss, "B.", "", false)};
    const std::string shown = render::explain_text(
        failed, {.has_capture = true, .logs = 2, .begin_ns = 0}, util::TextStyle(true));
    EXPECT_TRUE(shown.starts_with("1. \033[1;31mwrong-rkey\033[0m (likely)\n")) << shown;
    EXPECT_NE(shown.find("2. \033[33mloss\033[0m (likely, not fatal)\n"), std::string::npos);
}

TEST(ExplainText, names_the_clocks_that_differ) {
    Explanation explanation;
    explanation.clocks = {{.role = "client", .offset_ns = 1'500'000'000},
                          {.role = "server", .offset_ns = -3'600'000'000'000}};
    const std::string shown = render::explain_text(
        explanation, {.has_capture = true, .logs = 2, .begin_ns = 0}, util::TextStyle(false));
    EXPECT_TRUE(shown.ends_with(
        "client: the clock of this log is 1.50 s behind the capture's, which was allowed for.\n"
        "server: the clock of this log is 3600.00 s ahead of the capture's, which was allowed "
        "for.\n"))
        << shown;
}

TEST(ExplainJson, has_all_values_of_the_explanation) {
    Explanation failed;
    failed.has_failed = true;
    failed.packets = 9;
    failed.clocks = {{.role = "server", .offset_ns = -7}};
    failed.signs = {{.frame = 3, .role = "", .t_ns = 5, .text = "NAK"},
                    {.frame = 0, .role = "client", .t_ns = 0, .text = "no \xff UTF-8"}};
    failed.causes = {cause(Code::WrongRkey, "Zero.", "client → server", true)};
    failed.causes[0].cost_ns = 17;
    failed.causes[0].add({.frame = 0, .role = "server", .t_ns = 6, .text = "mr"});
    const util::Json advice = explain::advice(Code::WrongRkey);
    EXPECT_EQ(
        render::explain_json(failed, {.has_capture = true, .logs = 2, .begin_ns = 4}),
        R"({"failed":true,"packets":9,"logs":2,"clocks":[{"role":"server","offset_ns":-7}],"signs":[)"
        R"({"text":"NAK","frame":3,"t_ns":5},{"text":"no )"
        "\xef\xbf\xbd"
        R"( UTF-8","role":"client"}],"unanswered":[],"retransmissions":[],"causes":[{"code":"wrong-rkey","certainty":"likely",)"
        R"("fatal":true,"where":"client → server","text":"Zero.","cost_ns":17,)"
        R"("evidence":[{"text":"mr","role":"server","t_ns":6}],"excluded":[],"open":[],"advice":)" +
            advice.dump() + "}]}");
    EXPECT_EQ(
        render::explain_json({}, {}),
        R"({"failed":false,"packets":0,"logs":0,"clocks":[],"signs":[],"unanswered":[],"retransmissions":[],"causes":[]})");
}

}  // namespace explain_output_test
