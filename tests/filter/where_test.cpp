// Filters on one packet: the meaning of each operator, kind of field and logical connective.
#include "filter/where.hpp"

#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "wire/cm_data.hpp"

namespace where_test {

using filter::Where;
using query_test::packet_of;
using query_test::Sample;
using query_test::sample_of;
using wire_test::Network;

constexpr std::uint8_t write_only = 0x0a;
constexpr std::uint8_t acknowledge = 0x11;

bool matches(std::string_view filter, Sample& sample) {
    return Where::parse(filter).matches(sample.view());
}
void expect_matches(Sample& sample, std::initializer_list<std::string_view> filters) {
    for (const auto filter : filters)
        EXPECT_TRUE(matches(filter, sample)) << filter;
}
void expect_none(Sample& sample, std::initializer_list<std::string_view> filters) {
    for (const auto filter : filters)
        EXPECT_FALSE(matches(filter, sample)) << filter;
}

Sample with_psn(std::uint32_t psn) {
    auto packet = packet_of(write_only);
    packet.bth->psn = wire::Psn(psn);
    return Sample(wire::encode(packet));
}
Sample answer(std::uint8_t syndrome) {
    auto packet = packet_of(acknowledge);
    packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 9};
    return Sample(wire::encode(packet));
}
Sample message(wire::CmAttribute attribute, util::Bytes data) {
    const auto mad = wire_test::cm_mad(attribute, data);
    return Sample(wire::encode(wire_test::cm_packet(mad, Network::Ipv4)));
}
Sample ready_to_use() {
    return message(wire::CmAttribute::ReadyToUse,
                   wire_test::from_hex("00000001 00000002 abcdef00"));
}

TEST(Where, numbers_compare_in_decimal_and_hexadecimal_by_signs_and_words) {
    auto sample = sample_of(write_only);
    expect_matches(
        sample,
        {"bth.opcode == 10", "bth.opcode == 0x0a", "bth.opcode == 0X0A", "bth.opcode eq 10",
         "bth.opcode != 11", "bth.opcode ne 11", "bth.opcode < 11", "bth.opcode lt 11",
         "bth.opcode <= 10", "bth.opcode le 10", "bth.opcode > 9", "bth.opcode gt 9",
         "bth.opcode >= 10", "bth.opcode ge 10", "bth.opcode==10", "reth.va == 0x7f00112233445566",
         "bth.opcode == \"10\"", "reth.va < 18446744073709551615"});
    expect_none(sample, {"bth.opcode == 11", "bth.opcode != 10", "bth.opcode < 10",
                         "bth.opcode <= 9", "bth.opcode > 10", "bth.opcode >= 11"});
}

TEST(Where, psns_are_ordered_as_numbers_and_a_range_may_pass_zero) {
    auto before = with_psn(0xfffff0);
    auto behind = with_psn(0x10);
    auto outside = with_psn(0x11);
    constexpr auto range = "bth.psn in 0xfffff0..0x10";
    EXPECT_TRUE(matches(range, before));
    EXPECT_TRUE(matches(range, behind));
    EXPECT_FALSE(matches(range, outside));
    auto early = with_psn(0xffffef);
    EXPECT_FALSE(matches(range, early));
    expect_matches(behind, {"bth.psn in 0x10..0x10", "bth.psn in {1, 0xffffff..0x10}",
                            "bth.psn < 0xfffff0", "bth.psn in 16 .. 17"});
}

TEST(Where, times_keep_all_nine_digits) {
    auto sample = sample_of(write_only);
    expect_matches(
        sample, {"time == 1700000000.123456789", "time > 1700000000.123456788",
                 "time < 1700000000.12345679", "time >= 1700000000.1",
                 "time in 1700000000..1700000001", "t_ns == 1700000000123456789", "time > -1.5",
                 "t_ns > -5", "frame == 3", "frame.number == 3", "frame.time_epoch > 1700000000"});
    expect_none(sample, {"time == 1700000000.123456788", "time == 1700000000.12345679", "time < 0",
                         "time in -2.5..-1"});
}

TEST(Where, a_time_before_1970_is_found_as_it_is_printed) {
    auto sample = sample_of(write_only);
    auto view = sample.view();
    view.time = std::chrono::nanoseconds(-1'500'000'000);
    EXPECT_TRUE(Where::parse("time == -1.500000000").matches(view));
    EXPECT_TRUE(Where::parse("time in -2..-0.5").matches(view));
    view.time = std::chrono::nanoseconds(-1);
    EXPECT_TRUE(Where::parse("time == -0.000000001").matches(view));
}

TEST(Where, real_numbers) {
    auto sample = answer(0x21);  // RNR NAK, 0.01 ms
    expect_matches(sample, {"aeth.timer_ms == 0.01", "aeth.timer_ms < 1", "aeth.timer_ms > 0",
                            "aeth.timer_ms in 0.005..0.02", "aeth.timer_ms == 1e-2"});
    expect_none(sample, {"aeth.timer_ms > 0.01", "aeth.timer_ms in 1..2"});
}

// As in Wireshark, a name tests whether the field is present, even if it is a flag.
TEST(Where, a_name_alone_is_true_where_the_packet_has_the_field_whatever_its_value) {
    auto sample = sample_of(write_only);
    expect_matches(sample, {"reth", "bth", "eth", "ip", "icrc", "bth.a", "bth.fecn", "bth.psn",
                            "bth.padcnt", "not aeth", "not aeth.msn", "ip.addr", "udp.port"});
    expect_none(sample, {"aeth", "ipv6", "vlan", "vlan.dei", "cm", "truncated", "malformed",
                         "not_roce", "not bth.fecn", "not bth.a", "ipv6.addr", "tcp.port"});
    auto without_credits = answer(0x1f);
    expect_none(without_credits, {"aeth.credits", "aeth.credits != 1"});
}

TEST(Where, a_flag_is_compared_with_true_and_false_or_1_and_0) {
    auto sample = sample_of(write_only);
    expect_matches(sample, {"bth.fecn == false", "bth.fecn == 0", "bth.fecn != 1", "bth.a == true",
                            "bth.a == 1", "bth.a != false", "reth == true", "bth.se in {1}"});
    expect_none(sample, {"bth.fecn == 1", "bth.a == 0", "bth.a != 1", "aeth != true"});
}

TEST(Where, a_field_that_is_not_there_compares_to_nothing) {
    auto sample = sample_of(write_only);
    expect_none(sample, {"aeth.msn == 1", "aeth.msn != 1", "aeth.msn < 1", "aeth.msn >= 0",
                         "aeth.msn in 0..100", "aeth.type contains \"\"", "ipv6.src != ::1",
                         "ipv6.addr != ::1", "cm.private != 00"});
    expect_matches(sample, {"not aeth.msn == 1", "!(aeth.msn != 1)"});
}

TEST(Where, and_binds_tighter_than_or_and_not_tightest) {
    auto sample = sample_of(write_only);
    expect_matches(sample,
                   {"reth or aeth and aeth", "aeth and aeth or reth", "(reth or aeth) and bth",
                    "not aeth and reth", "not (aeth and reth)", "not aeth or aeth",
                    "reth && bth || aeth", "! aeth", "!aeth", "not not reth", "!!reth",
                    "not bth.opcode == 11", "((reth))", "reth\nand\tbth"});
    expect_none(sample, {"(reth or aeth) and aeth", "not (aeth or reth)", "not aeth and aeth",
                         "not reth or aeth", "reth and bth and aeth", "aeth or cm or mad"});
}

TEST(Where, a_set_has_values_and_ranges) {
    auto sample = sample_of(write_only);
    expect_matches(
        sample, {"bth.opcode in {10}", "bth.opcode in {6..11, 17}", "bth.opcode in {17,6..11}",
                 "bth.opcode in { 1 , 10 }", "bth.opcode in 10..10", "bth.opcode in 10",
                 "bth.transport in {UC, RC}", "ip.src in {192.0.2.2}", "bth.destqp in {0x012345}"});
    expect_none(sample, {"bth.opcode in {1..9, 11..20}", "bth.opcode in {9, 11}",
                         "bth.transport in {UC, UD}", "not bth.opcode in {10}"});
}

TEST(Where, addresses_and_networks_of_both_families) {
    auto v4 = sample_of(write_only);
    expect_matches(
        v4, {"ip.src == 192.0.2.2", "ip.src == 192.0.2.0/24", "ip.src == 192.0.2.3/31",
             "ip.src == 128.0.0.0/1", "ip.src == 192.0.2.2/32", "ip.src == 0.0.0.0/0",
             "ip.src != 192.0.3.0/24", "ip.src in 192.0.2.1..192.0.2.9",
             "ip.src in {10.0.0.0/8, 192.0.0.0/16}", "ip.src > 192.0.1.255",
             "eth.src == 02:00:00:00:00:02", "eth.src in 02:00:00:00:00:00..02:00:00:00:00:ff",
             "eth.src < 02:00:00:00:00:0A"});
    expect_none(v4, {"ip.src == 192.0.2.0", "ip.src == 192.0.2.4/31", "ip.src == 0.0.0.0/1",
                     "ip.src != 192.0.2.0/24", "ip.src in 192.0.2.3..192.0.2.9",
                     "ip.src in {10.0.0.0/8, 192.1.0.0/16}", "ip.src != 0.0.0.0/0",
                     "ip.src == 192.0.2.3/32", "eth.src == 02:00:00:00:00:01"});
    auto v6 = sample_of(write_only, Network::Ipv6);
    expect_matches(
        v6, {"ipv6.src == 2001:db8::2", "ipv6.src == 2001:db8::/32", "ipv6.src == 2001:db8::3/127",
             "ipv6.src == 2001:DB8:0::2/128", "ipv6.src == ::/0", "ipv6.src == 2001:db8::/33",
             "ipv6.src in 2001:db8::..2001:db8::ffff", "ipv6.src != 2001:db9::/32"});
    expect_none(v6, {"ipv6.src == 2001:db8::4/127", "ipv6.src == 2001:db8:8000::/33",
                     "ipv6.src == 2001:db8::1", "ip.src == 192.0.2.2"});
}

TEST(Where, a_name_for_both_directions_is_either_and_unequal_to_neither) {
    auto v4 = sample_of(write_only);
    expect_matches(
        v4, {"ip.addr == 192.0.2.2", "ip.addr == 192.0.2.1", "ip.addr != 192.0.2.3",
             "ip.addr in {192.0.2.1}", "udp.port == 4791", "udp.port == 0xc123", "udp.port != 1",
             "eth.addr == 02:00:00:00:00:01", "ip.addr == 192.0.2.0/24"});
    expect_none(v4, {"ip.addr != 192.0.2.2", "ip.addr != 192.0.2.1", "ip.addr == 192.0.2.3",
                     "udp.port != 4791", "udp.port == 1", "ipv6.addr == ::1", "tcp.port != 1"});
}

TEST(Where, text_is_a_word_or_quoted) {
    auto sample = sample_of(write_only);
    expect_matches(sample, {"bth.transport == RC", "bth.transport == \"RC\"", "bth.transport != UD",
                            "bth.opcode_name == \"RC RDMA WRITE Only\"",
                            "bth.opcode_name == 'RC RDMA WRITE Only'",
                            "bth.opcode_name contains WRITE", "bth.opcode_name contains \"E O\"",
                            "bth.opcode_name contains \"\"", "icrc.status == good"});
    expect_none(sample, {"bth.opcode_name contains write", "bth.opcode_name == \"RC SEND Only\"",
                         "icrc.status == bad", "bth.transport == UC"});
    auto nak = answer(0x63);
    expect_matches(nak, {"aeth.type == NAK", "aeth.error == \"Remote Operational Error\""});
    auto rnr = answer(0x21);
    expect_matches(rnr, {"aeth.type == \"RNR NAK\"", "aeth.type != NAK", "aeth.type contains NAK"});
}

TEST(Where, bytes_are_pairs_of_hexadecimal_digits) {
    auto sample = ready_to_use();
    expect_matches(sample, {"cm.private contains abcd", "cm.private contains CDEF00",
                            "cm.private contains \"\"",
                            "cm.private contains 'efEF' or cm.private contains cdef",
                            "cm.private != abcdef", "not cm.private == abcdef"});
    expect_none(sample, {"cm.private contains bcde", "cm.private == abcd"});
    auto rejected = message(wire::CmAttribute::ConnectReject,
                            wire_test::CmData().put(0, "00").put(9, "06").bytes());
    EXPECT_TRUE(matches("cm.ari == 0c0d0e", rejected));
}

TEST(Where, addresses_of_rdma_cm_are_of_either_family) {
    wire_test::CmData data;
    data.put(8, "0000000001 06 1234")                             // service ID
        .put(140, "00 40 5678 00000000000000000000000000000000")  // rdma_cm's header, IPv4
        .put(156, "c0000202")
        .put(160, "00000000000000000000000000000000")
        .put(172, "c0000201");
    auto sample = message(wire::CmAttribute::ConnectRequest, data.bytes());
    expect_matches(sample, {"cm.ip_cm.sip == 192.0.2.2", "cm.ip_cm.dip == 192.0.2.0/24",
                            "cm.ip_cm.sip != 2001:db8::1", "cm.ip_cm.sip in {::1, 192.0.2.2}",
                            "cm.port == 0x1234", "cm.ip_cm.ipv == 4"});
    expect_none(sample, {"cm.ip_cm.sip == ::/0", "cm.ip_cm.sip == ::192.0.2.2"});
    data.put(140, "00 60").put(144, "20010db8000000000000000000000002");
    auto v6 = message(wire::CmAttribute::ConnectRequest, data.bytes());
    expect_matches(v6, {"cm.ip_cm.sip == 2001:db8::2", "cm.ip_cm.sip == 2001:db8::/126",
                        "cm.ip_cm.sip in {10.0.0.0/8, 2001:db8::/32}"});
    expect_none(v6, {"cm.ip_cm.sip == 0.0.0.0/0", "cm.ip_cm.sip == 2001:db9::/32"});
}

TEST(Where, says_whether_it_needs_the_icrc) {
    EXPECT_FALSE(Where::parse("bth.psn == 1 and not (reth or icrc.value == 1)").needs_icrc());
    for (const auto* filter : {"icrc.status == bad", "reth and not (bth or icrc.computed)",
                               "not icrc.reason contains fragment"})
        EXPECT_TRUE(Where::parse(filter).needs_icrc()) << filter;
}

TEST(Where, nests_100_deep) {
    const auto nested = [](int depth, const std::string& open, const std::string& close) {
        std::string filter;
        for (int i = 0; i < depth; ++i)
            filter += open;
        filter += "reth";
        for (int i = 0; i < depth; ++i)
            filter += close;
        return filter;
    };
    auto sample = sample_of(write_only);
    EXPECT_TRUE(matches(nested(100, "(", ")"), sample));
    EXPECT_TRUE(matches(nested(100, "not ", ""), sample));
    EXPECT_TRUE(matches(nested(100, "!", ""), sample));
    EXPECT_TRUE(matches(nested(50, "not (", ")"), sample));
    EXPECT_THROW(Where::parse(nested(101, "(", ")")), filter::SyntaxError);
    EXPECT_THROW(Where::parse(nested(101, "not ", "")), filter::SyntaxError);
    EXPECT_THROW(Where::parse(nested(51, "not (", ")")), filter::SyntaxError);
    EXPECT_THROW(Where::parse(nested(100'000, "(", ")")), filter::SyntaxError);
}

TEST(Where, many_comparisons_beside_each_other_are_no_nesting) {
    std::string filter = "aeth";
    for (int i = 0; i < 1000; ++i)
        filter += " or (aeth)";
    auto sample = sample_of(write_only);
    EXPECT_FALSE(matches(filter, sample));
    EXPECT_TRUE(matches(filter + " or reth", sample));
}

TEST(Where, outlives_its_expression_and_moves) {
    auto sample = sample_of(write_only);
    std::string expression = "bth.opcode_name contains WRITE";
    auto where = Where::parse(expression);
    expression.assign(expression.size(), 'x');
    auto moved = std::move(where);
    EXPECT_TRUE(moved.matches(sample.view()));
}

}  // namespace where_test
