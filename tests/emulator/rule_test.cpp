#include "emulator/rule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error_text.hpp"

namespace {

using namespace std::chrono_literals;
using namespace emulator;
using support::error_text;

const std::vector<std::string> two_hosts{"server", "client"};

Rule parsed(std::string_view text) {
    return parse_rule(text, two_hosts);
}
std::string refusal(std::string_view text) {
    return error_text([&] { parse_rule(text, two_hosts); });
}
std::size_t column_of(std::string_view text) {
    try {
        parse_rule(text, two_hosts);
    } catch (const filter::SyntaxError& error) {
        return error.column();
    }
    return 0;
}

TEST(Rule, says_what_is_done_to_which_packets_of_whom) {
    const Rule rule = parsed(
        "  drop the 3rd packet from client to server where bth.opcode_name contains \"WRITE\" ");
    EXPECT_TRUE(std::holds_alternative<Drop>(rule.action));
    EXPECT_EQ(name_of(rule.action), "drop");
    EXPECT_EQ(rule.which.kind, Which::Kind::Range);
    EXPECT_EQ(rule.which.first, 3U);
    EXPECT_EQ(rule.which.last, 3U);
    EXPECT_EQ(rule.from, "client");
    EXPECT_EQ(rule.to, "server");
    EXPECT_TRUE(rule.where.has_value());
    EXPECT_FALSE(rule.any_frame);
    EXPECT_EQ(rule.text,
              "drop the 3rd packet from client to server where bth.opcode_name contains \"WRITE\"");
}

TEST(Rule, has_nine_actions_with_their_values) {
    EXPECT_EQ(std::get<Duplicate>(parsed("duplicate packets").action).copies, 1U);
    EXPECT_EQ(std::get<Duplicate>(parsed("duplicate 1% of packets").action).copies, 1U);
    const auto duplicate =
        std::get<Duplicate>(parsed("duplicate 3 times after 20ms packets").action);
    EXPECT_EQ(duplicate.copies, 3U);
    EXPECT_EQ(duplicate.after, 20ms);
    EXPECT_EQ(std::get<Delay>(parsed("delay 1.5ms packets").action).time, 1500us);
    EXPECT_EQ(std::get<Reorder>(parsed("reorder by 2 packets").action).by, 2U);
    const auto corrupt = std::get<Corrupt>(parsed("corrupt packets").action);
    EXPECT_FALSE(corrupt.byte.has_value());
    EXPECT_EQ(corrupt.icrc, wire::IcrcAfter::Left);
    const auto byte = std::get<Corrupt>(parsed("corrupt byte 20 with good icrc packets").action);
    EXPECT_EQ(byte.byte, 20U);
    EXPECT_EQ(byte.icrc, wire::IcrcAfter::Good);
    const auto set = std::get<Set>(parsed("set bth.psn to 0xabcdef packets").action);
    EXPECT_EQ(set.field->name, "bth.psn");
    EXPECT_EQ(set.value, 0xabcdefU);
    EXPECT_EQ(set.icrc, wire::IcrcAfter::Good);
    EXPECT_TRUE(std::holds_alternative<Mark>(parsed("mark packets").action));
    EXPECT_EQ(std::get<Cut>(parsed("cut for 200ms at the 5th packet").action).time, 200ms);
    const auto limit = std::get<Limit>(parsed("limit to 10Mbit/s queue 32 packets").action);
    EXPECT_EQ(limit.bits_per_second, 10'000'000U);
    EXPECT_EQ(limit.queue, 32U);
}

TEST(Rule, counts_in_five_ways) {
    EXPECT_EQ(parsed("drop packets").which.kind, Which::Kind::All);
    const Which range = parsed("drop packets 3 to 5 to server").which;
    EXPECT_EQ(range.first, 3U);
    EXPECT_EQ(range.last, 5U);
    const Which every = parsed("drop every 12th packet").which;
    EXPECT_EQ(every.kind, Which::Kind::Every);
    EXPECT_EQ(every.every, 12U);
    const Which share = parsed("drop 0.5% of packets seed 7").which;
    EXPECT_EQ(share.kind, Which::Kind::Share);
    EXPECT_DOUBLE_EQ(share.share, 0.005);
    EXPECT_EQ(share.seed, 7U);
    EXPECT_EQ(parsed("drop the first packet").which.last, 1U);
    EXPECT_TRUE(parsed("drop frames").any_frame);
    EXPECT_TRUE(parsed("drop the 2nd frame").any_frame);
}

TEST(Rule, all_packets_have_several_names_with_every_action) {
    for (const char* action : {"drop", "duplicate 2 times", "delay 1ms", "reorder by 1", "corrupt",
                               "set bth.psn to 1", "mark", "cut for 1s at", "limit to 1Mbit/s"}) {
        for (const char* which : {"packets", "all packets", "all the packets", "the packets",
                                  "every packet", "each packet", "any packet"}) {
            const Rule rule = parsed(fmt::format("{} {} from client", action, which));
            EXPECT_EQ(rule.which.kind, Which::Kind::All) << rule.text;
            EXPECT_FALSE(rule.any_frame);
            EXPECT_EQ(rule.from, "client");
        }
        for (const char* which : {"frames", "all frames", "every frame", "each frame"})
            EXPECT_TRUE(parsed(fmt::format("{} {}", action, which)).any_frame);
        EXPECT_EQ(parsed(fmt::format("{} each 3rd packet", action)).which.every, 3U);
        EXPECT_EQ(parsed(fmt::format("{} 5% of all packets", action)).which.share, 0.05);
    }
    EXPECT_EQ(refusal("drop every packets"),
              "'packet' or 'frame' is expected here, not 'packets' (column 12)");
    EXPECT_EQ(refusal("drop all of them"),
              "'packets' or 'frames' is expected here, not 'of' (column 10)");
}

TEST(Rule, points_at_what_it_does_not_understand) {
    EXPECT_EQ(refusal("frob packets"),
              "a rule begins with an action: drop, duplicate, delay, reorder, corrupt, set, mark, "
              "cut, limit, not 'frob' (column 1)");
    EXPECT_EQ(column_of("drop the 2rd packet"), 10U);
    EXPECT_EQ(column_of("drop the 12nd packet"), 10U);
    EXPECT_EQ(column_of("drop the 0th packet"), 10U);
    EXPECT_EQ(column_of("drop the 2nd packets"), 14U);
    EXPECT_EQ(column_of("drop packets 5 to 3"), 19U);
    EXPECT_EQ(column_of("drop packets from nobody"), 19U);
    EXPECT_EQ(refusal("drop packets from nobody"),
              "there is no host 'nobody': server, client (column 19)");
    EXPECT_EQ(column_of("drop 101% of packets"), 6U);
    EXPECT_EQ(column_of("delay 20 packets"), 7U);
    EXPECT_EQ(column_of("delay 61s packets"), 7U);
    EXPECT_EQ(column_of("set bth.icrc to 3 packets"), 5U);
    EXPECT_EQ(column_of("set ip.src to 3 packets"), 5U);
    EXPECT_EQ(column_of("set bth.psn to 0x1000000 packets"), 16U);
    EXPECT_EQ(column_of("set bth.psn to twelve packets"), 16U);
    EXPECT_EQ(column_of("limit to 10MB packets"), 10U);
    EXPECT_EQ(column_of("corrupt byte 3 with some icrc packets"), 21U);
    EXPECT_EQ(column_of("drop packets whenever"), 14U);
    EXPECT_EQ(column_of("drop"), 5U);
    EXPECT_EQ(column_of(""), 1U);
}

TEST(Rule, points_into_its_expression) {
    EXPECT_EQ(column_of("drop packets where bth.foo == 3"), 20U);
    EXPECT_EQ(column_of("drop packets where"), 19U);
    try {
        parse_rule("drop packets where bth.psn == moon", two_hosts);
        FAIL();
    } catch (const filter::SyntaxError& error) {
        EXPECT_EQ(error.marked(),
                  "  drop packets where bth.psn == moon\n"
                  "                                ^~~~\n");
    }
}

TEST(Rule, file_has_one_a_line_and_comments) {
    const auto rules = parse_rules(
        "# what is lost\n"
        "drop the 1st packet   # the first\n"
        "\n"
        "  delay 2ms packets where bth.opcode_name contains \" # \"\r\n",
        two_hosts);
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[0].text, "drop the 1st packet");
    EXPECT_EQ(rules[1].text, "delay 2ms packets where bth.opcode_name contains \" # \"");
    EXPECT_EQ(error_text([] { parse_rules("drop packets\ndrop it\n", two_hosts); }),
              "line 2: 'packets' or 'frames' is expected here, not 'it' (column 6)");
}

}  // namespace
