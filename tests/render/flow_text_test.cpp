#include "render/flow_text.hpp"

#include <sstream>

#include "trace/flow/connection.hpp"

namespace flow_text_test {

using namespace flow_test;

class FlowText : public Connection {
  protected:
    static std::string text(const flow::Conversation& conversation,
                            util::TextStyle style = util::TextStyle()) {
        return render::flow_text(conversation, std::chrono::nanoseconds(Feed::begin), style);
    }
    static std::size_t width(const std::string& table) {
        std::istringstream lines(table);
        std::size_t most = 0;
        for (std::string line; std::getline(lines, line);)
            most = std::max(most, util::display_width(line));
        return most;
    }
    static bool has(const std::string& table, std::string_view part) {
        return table.find(part) != std::string::npos;
    }
};

TEST_F(FlowText, is_a_table_of_both_directions) {
    send(100, 3);
    ack(102);
    read(103, 2 * mtu);
    read_response(103, 2);
    send(107);
    nak(105, syndrome::psn_error);
    send(105);
    send(106);
    send(107);
    nak(105, syndrome::rnr);
    EXPECT_EQ(text(conversation()), R"(#1  RC  192.0.2.1 qp 0x22 ↔ 192.0.2.2 qp 0x11
  paired by run log; path MTU 1024
                            to qp 0x11                          to qp 0x22
  packets                   8                                   5
  bytes                     536 (56 payload)                    2358 (2048 payload)
  active                    0.000000 s to 0.000011 s            0.000003 s to 0.000012 s
  SEND                      6 messages
  RDMA READ                 1 message
  READ response                                                 1 message
  request PSNs              0x000064 to 0x00006b, 8 in total
  PSN rate                  1000000 / s
  retransmitted             1 packet
  late                      2 packets
  gaps                      1 gap, all PSNs arrived later
  rkeys used                0x77
  ACK latency               2 us / 2.98 us / 3 us, of 3
  READ, first response      1 us / 1 us / 1 us, of 1
  READ, last response       2 us / 2 us / 2 us, of 1
  without latency           3 requests
  ACKs sent                                                     1, each for 3.0 packets, up to 3
  NAKs sent                                                     1 PSN Sequence Error
  RNR NAKs sent                                                 1 time

)");
}

TEST_F(FlowText, of_one_direction_says_so) {
    Feed feed;
    feed.add(packet(there, opcode::send_only, 100, 8));
    EXPECT_EQ(text(feed.conversations()[0]), R"(#1  RC  192.0.2.1 → 192.0.2.2 qp 0x11
  the other direction is not known
                            to qp 0x11
  packets                   1
  bytes                     66 (8 payload)
  active                    0.000000 s to 0.000000 s
  SEND                      1 message
  request PSNs              0x000064 to 0x000064, 1 in total
  without latency           1 request

)");
}

TEST_F(FlowText, calls_a_guess_a_guess) {
    Feed feed;
    feed.add(packet(there, opcode::send_only, 100, 8));
    feed.add(answer(back, 100));
    EXPECT_TRUE(has(text(feed.conversations()[0]),
                    "paired by a guess: PSNs of responses fit its requests"));
}

TEST_F(FlowText, says_of_a_known_sender_that_the_other_direction_had_no_packets) {
    send(100);
    EXPECT_TRUE(has(text(conversation()), "no packets of the other direction; path MTU 1024"));
}

TEST_F(FlowText, of_gaps_that_were_filled_says_that_they_were) {
    send(100);
    send(103);
    EXPECT_TRUE(has(text(conversation()), "1 gap, 2 PSNs never seen"));
    send(101, 2);
    EXPECT_TRUE(has(text(conversation()), "1 gap, all PSNs arrived later"));
}

TEST_F(FlowText, rounds_a_latency_into_the_unit_that_it_has_then) {
    const auto latency = [](std::int64_t ns) {
        flow::Conversation one;
        one.forward.requests.packets = 1;
        one.forward.requests.ack = {.count = 1, .p50 = ns, .p99 = ns, .max = ns, .left_out = 0};
        const std::string table = text(one);
        const auto at = table.find("ACK latency") + 26;
        return table.substr(at, table.find(" /", at) - at);
    };
    EXPECT_EQ(latency(0), "0 ns");
    EXPECT_EQ(latency(999), "999 ns");
    EXPECT_EQ(latency(1'000), "1 us");
    EXPECT_EQ(latency(1'234), "1.23 us");
    EXPECT_EQ(latency(999'499), "999 us");
    EXPECT_EQ(latency(999'999), "1 ms");
    EXPECT_EQ(latency(12'345'678), "12.3 ms");
    EXPECT_EQ(latency(999'999'999), "1 s");
    EXPECT_EQ(latency(12'345'678'901'234), "12346 s");
}

TEST_F(FlowText, does_not_make_up_percentiles_of_samples_that_found_no_room) {
    flow::Conversation one;
    one.forward.requests.ack = {.count = 3, .p50 = 0, .p99 = 0, .max = 70, .left_out = 3};
    EXPECT_TRUE(has(text(one), "? / ? / 70 ns, of 3")) << text(one);
}

flow::Direction large_direction(bool is_forward) {
    flow::Direction one;
    constexpr flow::Host host{.high = 0x2001'0db8'1234'5678, .low = 0x9abc'def0'1234'5678};
    constexpr std::uint64_t many = 12'345'678'901;
    one.src = one.dst = host;
    one.dest_qpn = is_forward ? 0xfffffe : 0xffffff;
    one.src_qpn = is_forward ? 0xffffff : 0xfffffe;
    one.packets = one.payload_bytes = many;
    one.wire_bytes = 10 * many;
    one.last_ns = INT64_MAX / 2;
    one.messages.fill(many);
    one.requests.packets = one.requests.psns = one.requests.repeats = one.requests.late = many;
    one.requests.gaps = one.requests.missing = one.requests.restarts = many;
    one.requests.psns_per_second = 1e9;
    for (std::uint32_t key = 0xfffffff0; key != 0; ++key)
        one.requests.rkeys.add(key);
    one.requests.ack = {.count = many, .p50 = 123'456, .p99 = 123'456'789, .max = 1'234'567'890};
    one.requests.read_first = one.requests.read_last = one.requests.ack;
    one.requests.unmeasured = many;
    one.responses.packets = one.responses.acks = one.responses.counted_acks = many;
    one.responses.psns_acked = many * 100;
    one.responses.most_acked = 65536;
    one.responses.naks.fill(1'234'567);
    one.responses.rnr_naks = one.responses.repeats = one.responses.gaps = many;
    one.responses.missing = many;
    one.marks = {.ce = many, .fecn = many, .becn = many, .cnps = many};
    one.malformed = one.icrc_checked = one.icrc_bad = many;
    return one;
}

TEST_F(FlowText, is_never_wider_than_100_columns) {
    flow::Conversation one;
    one.number = 123'456;
    one.network = flow::Network::Ipv6;
    one.is_sequenced = one.is_doubled = true;
    one.pairing = flow::Pairing::AckGuess;
    one.path_mtu = 4096;
    one.forward = large_direction(true);
    one.backward = large_direction(false);
    EXPECT_LE(width(text(one)), 100U) << text(one);
    const std::string table = text(one);
    for (const std::string_view part :
         {"1234567 PSN Sequence Error,", "1234567 Remote Access Error,", "1234567 Reserved",
          "12345678901 CNP", "up to 65536"})
        EXPECT_TRUE(has(table, part)) << part << '\n' << table;
    EXPECT_TRUE(has(table, "  RDMA WRITE with Immediate 12345678901 messages")) << table;
}

// A title is "#1  RC  SOURCE qp 0x11 → DESTINATION qp 0x22": 27 columns and two addresses.
TEST_F(FlowText, has_a_title_of_one_line_if_that_fits_in_100_columns) {
    flow::Conversation one;
    one.number = 1;
    one.network = flow::Network::Ipv6;
    one.forward.src = *flow::host_of_gid("2001:db8:1111:1111:1111:1111:1111:1111");
    one.forward.src_qpn = 0x11;
    one.forward.dest_qpn = 0x22;
    one.forward.dst = *flow::host_of_gid("2001:db8:1111:1111:1111:1111:111:1");
    const std::string fits = text(one);
    EXPECT_EQ(util::display_width(fits.substr(0, fits.find('\n'))), 99U) << fits;
    one.forward.dst = *flow::host_of_gid("2001:db8:1111:1111:1111:1111:111:11");
    const std::string exact = text(one);
    EXPECT_EQ(util::display_width(exact.substr(0, exact.find('\n'))), 100U) << exact;
    one.forward.dst = *flow::host_of_gid("2001:db8:1111:1111:1111:1111:111:111");
    EXPECT_TRUE(has(text(one), " qp 0x11\n  → 2001:")) << text(one);
}

TEST_F(FlowText, colours_are_escapes_around_the_same_text) {
    send(100);
    nak(100, syndrome::access_error);
    const std::string plain = text(conversation());
    std::string coloured = text(conversation(), util::TextStyle(true));
    EXPECT_NE(coloured, plain);
    EXPECT_EQ(width(coloured), width(plain));
}

TEST(FlowTotalsText, says_what_there_was) {
    const util::TextStyle style;
    EXPECT_EQ(render::flow_totals_text({}, style), "no packets\n");
    flow::Totals totals;
    totals.packets = 1;
    EXPECT_EQ(render::flow_totals_text(totals, style), "1 packet\n");
    totals = {.packets = 100,
              .not_roce = 3,
              .unreadable = 2,
              .malformed = 1,
              .evicted_streams = 5,
              .evicted_packets = 40,
              .evicted_bytes = 4000};
    EXPECT_EQ(
        render::flow_totals_text(totals, style),
        "100 packets, 3 of them not RoCE, 1 malformed, 2 truncated before the BTH\n"
        "5 directions with 40 packets were dropped to limit memory: use a larger --max-flows\n");
}

}  // namespace flow_text_test
