// Invalid filters: the error message and the position of its mark.
#include <gtest/gtest.h>

#include "filter/where.hpp"

namespace where_errors_test {

using filter::SyntaxError;
using filter::Where;

SyntaxError error_of(std::string_view filter) {
    try {
        Where::parse(filter);
    } catch (const SyntaxError& error) {
        return error;
    }
    ADD_FAILURE() << filter << " is accepted";
    return {"", 1, 1};
}

struct Case {
    std::string_view filter;
    std::string_view sentence;
    std::size_t column;
    std::size_t width;
};

void expect_errors(std::initializer_list<Case> cases) {
    for (const auto& [filter, sentence, column, width] : cases) {
        const auto error = error_of(filter);
        EXPECT_EQ(error.what(), sentence) << filter;
        EXPECT_EQ(error.column(), column) << filter;
        EXPECT_EQ(error.width(), width) << filter;
    }
}

TEST(WhereErrors, of_characters_and_quotes) {
    expect_errors({
        {"bth.psn # 1", "'#' at column 9 is not valid in a filter", 9, 1},
        {"bth.psn & reth", "'&' at column 9 is not valid in a filter", 9, 1},
        {"\x01", "byte 0x01 at column 1 is not valid in a filter", 1, 1},
        {"~", "'~' at column 1 is not valid in a filter", 1, 1},
        {"\x7f", "byte 0x7f at column 1 is not valid in a filter", 1, 1},
        {"icrc.status == \"bad", "the quotes at column 16 are not closed", 16, 4},
        {"icrc.status == 'bad\"", "the quotes at column 16 are not closed", 16, 5},
        {"'", "the quotes at column 1 are not closed", 1, 1},
    });
}

TEST(WhereErrors, of_what_stands_where_a_field_is_expected) {
    expect_errors({
        {"", "the filter is empty: write a condition, such as 'aeth.type == NAK'", 1, 1},
        {" \t\n", "the filter is empty: write a condition, such as 'aeth.type == NAK'", 1, 1},
        {"reth and", "the filter ends where a field is expected (column 9)", 9, 1},
        {"not", "the filter ends where a field is expected (column 4)", 4, 1},
        {"and reth", "there is no field 'and': 'rocecap fields' lists them (column 1)", 1, 3},
        {"reth or == 1", "a field is expected here, not '==' (column 9)", 9, 2},
        {"'reth'", "a field is expected here, not 'reth' (column 1)", 1, 6},
        {"()", "a field is expected here, not ')' (column 2)", 2, 1},
        {"bth.pns == 1", "there is no field 'bth.pns': did you mean 'bth.psn'? (column 1)", 1, 7},
        {"not psn", "there is no field 'psn': did you mean 'bth.psn'? (column 5)", 5, 3},
        {"10", "there is no field '10': 'rocecap fields' lists them (column 1)", 1, 2},
    });
}

TEST(WhereErrors, of_what_is_too_much_or_not_closed) {
    expect_errors({
        {"reth aeth", "'aeth' is not expected here: join comparisons with and, or (column 6)", 6,
         4},
        {"reth)", "')' is not expected here: join comparisons with and, or (column 5)", 5, 1},
        {"reth 'x'", "'x' is not expected here: join comparisons with and, or (column 6)", 6, 3},
        {"(reth", "a parenthesis is not closed (column 6)", 6, 1},
        {"(reth aeth)", "a parenthesis is not closed (column 7)", 7, 4},
        {"bth.opcode in {1, 2", "the set is not closed by '}' (column 20)", 20, 1},
        {"bth.opcode in {1 2}", "the set is not closed by '}' (column 18)", 18, 1},
    });
}

TEST(WhereErrors, of_operators) {
    expect_errors({
        {"bth.psn = 1", "'=' is not an operator: write == for equality (column 9)", 9, 1},
        {"ip.addr=1", "'=' is not an operator: write == for equality (column 8)", 8, 1},
        {"bth.a < 1", "'<' cannot be used with bth.a, which is true or false (column 7)", 7, 1},
        {"reth >= 1", "'>=' cannot be used with reth, which is a header (column 6)", 6, 2},
        {"bth.psn contains 1", "'contains' cannot be used with bth.psn, which is a PSN (column 9)",
         9, 8},
        {"len contains 1", "'contains' cannot be used with len, which is a number (column 5)", 5,
         8},
        {"ip.src contains 1",
         "'contains' cannot be used with ip.src, which is an IPv4 address (column 8)", 8, 8},
        {"bth.transport lt UD", "'lt' cannot be used with bth.transport, which is text (column 15)",
         15, 2},
        {"cm.private > 00", "'>' cannot be used with cm.private, which is bytes (column 12)", 12,
         1},
        {"cm.ip_cm.sip < ::1",
         "'<' cannot be used with cm.ip_cm.sip, which is an IP address (column 14)", 14, 1},
    });
}

TEST(WhereErrors, of_missing_values) {
    expect_errors({
        {"bth.psn ==", "a value for bth.psn is missing (column 11)", 11, 1},
        {"bth.psn == == 1", "a value for bth.psn is missing (column 12)", 12, 2},
        {"bth.psn in 1..", "a value for bth.psn is missing (column 15)", 15, 1},
        {"bth.psn in ..1", "a value for bth.psn is missing (column 12)", 12, 2},
        {"bth.psn in", "a value for bth.psn is missing (column 11)", 11, 1},
        {"bth.psn in {}", "a value is missing (column 13)", 13, 1},
        {"bth.psn in {1,}", "a value is missing (column 15)", 15, 1},
        {"bth.psn in {,1}", "a value for bth.psn is missing (column 13)", 13, 1},
    });
}

TEST(WhereErrors, of_values_that_are_none_for_the_field) {
    expect_errors({
        {"bth.opcode == x",
         "'x' is not a number: bth.opcode cannot be compared with it (column 15)", 15, 1},
        {"bth.opcode == -1",
         "'-1' is not a number: bth.opcode cannot be compared with it (column 15)", 15, 2},
        {"bth.opcode == 0x",
         "'0x' is not a number: bth.opcode cannot be compared with it (column 15)", 15, 2},
        {"bth.opcode == ''",
         "'' is not a number: bth.opcode cannot be compared with it (column 15)", 15, 2},
        {"reth.va == 18446744073709551616",
         "'18446744073709551616' is not a number: reth.va cannot be compared with it (column 12)",
         12, 20},
        {"bth.psn == 0x1000000",
         "'0x1000000' is not a valid PSN: a PSN has 24 bits, up to 0xffffff (column 12)", 12, 9},
        {"bth.psn == one", "'one' is not a PSN: bth.psn cannot be compared with it (column 12)", 12,
         3},
        {"bth.a == yes",
         "'yes' is neither true nor false: bth.a cannot be compared with it (column 10)", 10, 3},
        {"reth == 2", "'2' is neither true nor false: reth cannot be compared with it (column 9)",
         9, 1},
        {"cm.private == abc",
         "'abc' is not a sequence of pairs of hexadecimal digits: cm.private cannot be compared "
         "with it (column 15)",
         15, 3},
        {"cm.private contains xy",
         "'xy' is not a sequence of pairs of hexadecimal digits: cm.private cannot be compared "
         "with it (column 21)",
         21, 2},
        {"eth.src == 02:00:00:00:00:0",
         "'02:00:00:00:00:0' is not a MAC address: eth.src cannot be compared with it (column 12)",
         12, 16},
        {"eth.src == 02:00:00:00:00-00",
         "'02:00:00:00:00-00' is not a MAC address: eth.src cannot be compared with it (column 12)",
         12, 17},
        {"aeth.timer_ms == nan",
         "'nan' is not a number: aeth.timer_ms cannot be compared with it (column 18)", 18, 3},
        {"aeth.timer_ms < inf",
         "'inf' is not a number: aeth.timer_ms cannot be compared with it (column 17)", 17, 3},
        {"aeth.timer_ms < 1e999",
         "'1e999' is not a number: aeth.timer_ms cannot be compared with it (column 17)", 17, 5},
        {"t_ns == 0x10", "'0x10' is not a number: t_ns cannot be compared with it (column 9)", 9,
         4},
        {"time == 1.0000000001",
         "'1.0000000001' is not a number: time cannot be compared with it (column 9)", 9, 12},
        {"time == 1.", "'1.' is not a number: time cannot be compared with it (column 9)", 9, 2},
        {"time == .5", "'.5' is not a number: time cannot be compared with it (column 9)", 9, 2},
        {"time == 1.-5", "'1.-5' is not a number: time cannot be compared with it (column 9)", 9,
         4},
        {"time == --5", "'--5' is not a number: time cannot be compared with it (column 9)", 9, 3},
        {"time == -", "'-' is not a number: time cannot be compared with it (column 9)", 9, 1},
        {"time == 4294967296",
         "'4294967296' is not a number: time cannot be compared with it (column 9)", 9, 10},
    });
}

TEST(WhereErrors, of_addresses) {
    const auto no_ipv4 = [](std::string_view text) {
        const auto error = error_of("ip.src == " + std::string(text));
        EXPECT_EQ(error.what(),
                  "'" + std::string(text) +
                      "' is not an IPv4 address: ip.src cannot be compared with it (column 11)");
        EXPECT_EQ(error.width(), text.size());
    };
    for (const auto* text : {"1.2.3", "1.2.3.256", "::1", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/x",
                             "1.2.3.4/-1", "1.2.3.4/8/8", "/8", "host", "2001:db8::/32"})
        no_ipv4(text);
    expect_errors({
        {"ipv6.src == 1.2.3.4",
         "'1.2.3.4' is not an IPv6 address: ipv6.src cannot be compared with it (column 13)", 13,
         7},
        {"ipv6.src == ::1/129",
         "'::1/129' is not an IPv6 address: ipv6.src cannot be compared with it (column 13)", 13,
         7},
        {"cm.ip_cm.sip == x",
         "'x' is not an IP address: cm.ip_cm.sip cannot be compared with it (column 17)", 17, 1},
        {"ip.addr == x",
         "'x' is not an IPv4 address: ip.src cannot be compared with it (column 12)", 12, 1},
        {"ip.src < 10.0.0.0/8", "a network has no order: compare it with == or != (column 10)", 10,
         10},
        {"ip.addr >= 10.0.0.0/8", "a network has no order: compare it with == or != (column 12)",
         12, 10},
    });
}

TEST(WhereErrors, of_words_that_a_field_never_has) {
    expect_errors({
        {"icrc.status == god", "icrc.status is one of good, bad, unchecked, not 'god' (column 16)",
         16, 3},
        {"icrc.status in {bad, ugly}",
         "icrc.status is one of good, bad, unchecked, not 'ugly' (column 22)", 22, 4},
        {"icrc.status == ''", "icrc.status is one of good, bad, unchecked, not '' (column 16)", 16,
         2},
        {"icrc.status == 'good bad'",
         "icrc.status is one of good, bad, unchecked, not 'good bad' (column 16)", 16, 10},
        {"bth.transport == rc",
         "bth.transport is one of RC, UC, RD, UD, CNP, XRC, DC, not 'rc' (column 18)", 18, 2},
        {"aeth.type == RNR",
         "aeth.type is one of ACK, RNR NAK, NAK, reserved, not 'RNR' (column 14)", 14, 3},
        {"bth.opcode_name == WRITE", "there is no opcode 'WRITE' (column 20)", 20, 5},
    });
}

TEST(WhereErrors, of_ranges) {
    expect_errors({
        {"len in 5..4", "the range's end 4 is before its beginning 5 (column 8)", 8, 1},
        {"time in 2..-2", "the range's end -2 is before its beginning 2 (column 9)", 9, 1},
        {"ip.src in 10.0.0.9..10.0.0.1",
         "the range's end 10.0.0.1 is before its beginning 10.0.0.9 (column 11)", 11, 8},
        {"ip.src in 10.0.0.0/8..11.0.0.0",
         "a range goes from one address to another of the same kind (column 11)", 11, 10},
        {"ip.src in 0.0.0.0/0..11.0.0.0",
         "a range goes from one address to another of the same kind (column 11)", 11, 9},
        {"bth.transport in RC..UD",
         "bth.transport has no order, so it cannot be compared with a range (column 18)", 18, 2},
        {"cm.ip_cm.sip in 10.0.0.1..::1",
         "cm.ip_cm.sip has no order, so it cannot be compared with a range (column 17)", 17, 8},
        {"bth.a in 0..1", "bth.a has no order, so it cannot be compared with a range (column 10)",
         10, 1},
        {"bth.psn in 1..0x1000000",
         "'0x1000000' is not a valid PSN: a PSN has 24 bits, up to 0xffffff (column 15)", 15, 9},
    });
}

TEST(WhereErrors, of_too_deep_a_nesting) {
    const std::string filter = std::string(101, '(') + "reth" + std::string(101, ')');
    const auto error = error_of(filter);
    EXPECT_STREQ(error.what(), "the filter has more than 100 nested levels (column 102)");
    EXPECT_EQ(error.column(), 102U);
}

// As after the "where" of a rule.
TEST(WhereErrors, of_an_empty_filter_behind_other_text_have_its_column) {
    try {
        Where::parse("drop all where ", 14);
        FAIL();
    } catch (const SyntaxError& error) {
        EXPECT_STREQ(error.what(),
                     "the filter is empty: write a condition, such as 'aeth.type == NAK' (column "
                     "16)");
        EXPECT_EQ(error.marked(), "  drop all where \n                 ^\n");
    }
}

TEST(WhereErrors, are_marked_below_the_expression) {
    EXPECT_EQ(error_of("bth.pns == 1").marked(), "  bth.pns == 1\n  ^~~~~~~\n");
    EXPECT_EQ(error_of("reth and").marked(), "  reth and\n          ^\n");
    EXPECT_EQ(error_of("bth.a < 1").marked(), "  bth.a < 1\n        ^\n");
    EXPECT_EQ(error_of("\treth\nand x.y").marked(), "  \\treth\\nand x.y\n              ^~~\n");
    EXPECT_EQ(error_of("").marked(), "");
    EXPECT_EQ(error_of(" \t").marked(), "");
}

TEST(WhereErrors, are_marked_by_characters_not_by_bytes) {
    EXPECT_EQ(error_of("not_roce == \"TCP → ü\" x").marked(),
              "  not_roce == \"TCP → ü\" x\n                        ^\n");
    EXPECT_EQ(error_of("icrc.status == \"gü\"").marked(),
              "  icrc.status == \"gü\"\n                 ^~~~\n");
    EXPECT_EQ(error_of("not_roce == \"→\" x").column(), 17U);
    EXPECT_STREQ(error_of("reth ü").what(), "byte 0xc3 at column 6 is not valid in a filter");
}

TEST(WhereErrors, pass_no_control_characters_to_the_terminal) {
    EXPECT_EQ(error_of("\x1b[31m\r\x7f").marked(), "  \\x1b[31m\\r\\u007f\n  ^~~~\n");
    EXPECT_STREQ(error_of("icrc.status == '\x1b[31m'").what(),
                 "icrc.status is one of good, bad, unchecked, not '\\x1b[31m' (column 16)");
    EXPECT_STREQ(
        error_of(std::string_view("ip.src == '1.2.3.4\0x'", 21)).what(),
        "'1.2.3.4\\x00x' is not an IPv4 address: ip.src cannot be compared with it (column 11)");
}

}  // namespace where_errors_test
