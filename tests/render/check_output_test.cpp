// What a check leaves out of its report is counted, in text and in JSON.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "render/check_json.hpp"
#include "render/check_text.hpp"
#include "util/json.hpp"
#include "wire/opcode.hpp"

namespace check_output_test {

using conformance::Code;

conformance::Finding finding(Code code, std::uint64_t frame) {
    return {.code = code, .frame = frame, .t_ns = 0, .text = "what was seen", .because = {}};
}

// One connection, with more of everything than is kept.
conformance::Report report() {
    conformance::Report made;
    made.connections.emplace_back();
    made.findings = {finding(Code::NakRepeated, 8)};
    made.unknowable = {finding(Code::PsnSkipped, 9), finding(Code::PsnSkipped, 10)};
    made.left_out = {{Code::NakRepeated, 0, true, false, 3},
                     {Code::ReadPsn, 0, false, false, 4},
                     {Code::PsnSkipped, 0, true, true, 5}};
    conformance::Recovery recovery;
    recovery.packet.frame = 7;
    recovery.packet.opcode = wire::find_opcode(0x04);
    recovery.packet.fate = conformance::Fate::Lost;
    recovery.predicted = conformance::GoBack::Timeout;
    recovery.resend.emplace().cause = conformance::GoBack::Timeout;
    recovery.gave_up = true;
    made.recoveries = {recovery};
    made.recoveries_left_out = 2;
    return made;
}

TEST(CheckText, counts_what_is_left_out) {
    const std::string text = render::check_text(report(), {}, util::TextStyle());
    for (const std::string_view part : {
             "\n      7  lost      SEND Only            0x000000  gave up ",
             "\n  ... and 2 more recoveries: too many to keep\n",
             "\n  ... and 3 more nak-repeated of #1: too many to keep\n",
             "\n  ... and 4 more read-psn of #1: too many to keep\n",
             "\n      7  psn-skipped ",
         })
        EXPECT_NE(text.find(part), std::string::npos) << part << text;
    EXPECT_EQ(text.find("more psn-skipped"), std::string::npos) << text;
}

// {requests, responses, whether the requester is the captured host}
TEST(CheckText, says_whether_all_packets_of_a_direction_were_judged) {
    for (const auto& [requests, responses, is_requester, verdict] :
         {std::tuple(1U, 0U, true, "as specified"),
          {1U, 0U, false, "no deviation"},
          {0U, 1U, true, "no deviation"},
          {0U, 1U, false, "as specified"},
          {1U, 1U, true, "no deviation"},
          {1U, 1U, false, "no deviation"}}) {
        SCOPED_TRACE(testing::Message() << requests << responses << is_requester);
        conformance::Report made;
        conformance::ConnectionReport& one = made.connections.emplace_back();
        one.from = {.high = 0, .low = 1};
        one.to = {.high = 0, .low = 2};
        one.forward.requests = requests;
        one.forward.responses = responses;
        made.one_point = {is_requester ? one.from : one.to};
        const std::string text = render::check_text(made, {}, util::TextStyle());
        EXPECT_NE(text.find(fmt::format("\n    {}    requests of ", verdict)), std::string::npos)
            << text;
    }
}

TEST(CheckText, has_the_colour_of_a_verdict) {
    const util::TextStyle style(true);
    for (const auto& [verdict, role] :
         {std::pair(conformance::Verdict::Deviation, util::TextRole::Bad),
          {conformance::Verdict::Undetermined, util::TextRole::Notice},
          {conformance::Verdict::AsSpecified, util::TextRole::Plain}}) {
        auto made = report();
        made.recoveries[0].verdict = verdict;
        const std::string shown = style(role, name(verdict));
        EXPECT_NE(render::check_text(made, {}, style).find("  " + shown + "\n"), std::string::npos)
            << shown;
    }
}

TEST(CheckJson, numbers_connections_from_one) {
    auto made = report();
    made.connections.emplace_back();
    std::string text;
    render::check_json(made, {}, [&](std::string_view part) { text += part; });
    const auto json = util::Json::parse(text);
    EXPECT_EQ(json.at("connections")[0].at("connection"), 1);
    EXPECT_EQ(json.at("connections")[1].at("connection"), 2);
}

TEST(CheckJson, counts_what_is_left_out) {
    std::string text;
    render::check_json(report(), {}, [&](std::string_view part) { text += part; });
    const auto json = util::Json::parse(text);
    EXPECT_EQ(json.at("deviations").size(), 1U);
    EXPECT_EQ(json.at("deviations_left_out"), 7);
    EXPECT_EQ(json.at("recoveries_left_out"), 2);
    EXPECT_EQ(json.at("cannot_be_judged").dump(), R"({"psn-skipped":7})");
    EXPECT_EQ(json.at("recoveries")[0].at("recovered"), "gave up");
}

TEST(CheckJson, does_not_tell_of_what_is_left_out_if_nothing_is) {
    auto made = report();
    made.left_out.clear();
    made.recoveries_left_out = 0;
    std::string text;
    render::check_json(made, {}, [&](std::string_view part) { text += part; });
    const auto json = util::Json::parse(text);
    EXPECT_FALSE(json.contains("deviations_left_out"));
    EXPECT_FALSE(json.contains("recoveries_left_out"));
    EXPECT_EQ(json.at("cannot_be_judged").at("psn-skipped"), 2);
}

}  // namespace check_output_test
