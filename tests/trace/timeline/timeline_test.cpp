#include "trace/timeline/timeline.hpp"

#include <gtest/gtest.h>

namespace timeline_test {

using namespace std::chrono_literals;
using logged::ClockBounds;
using timeline::PacketRow;
using timeline::Timeline;

constexpr Timeline::Arrival start{};

PacketRow packet(std::int64_t t_ns, const char* to, std::uint32_t psn, bool is_response = false) {
    PacketRow row;
    row.t_ns = t_ns;
    row.text = "packet";
    row.key = timeline::PacketKey{to, 0x11, psn, is_response};
    return row;
}

void add_hosts(Timeline& timeline) {
    timeline.add(runlog::Event{0, "server", "device", {{"gid", "::ffff:192.0.2.1"}}}, start);
    timeline.add(runlog::Event{0, "client", "device", {{"gid", "::ffff:192.0.2.2"}}}, start);
    timeline.add(runlog::Event{0, "server", "qp_state", {{"qpn", 0x11u}, {"dest_qpn", 0x11u}}},
                 start);
    timeline.add(runlog::Event{0, "client", "qp_state", {{"qpn", 0x11u}, {"dest_qpn", 0x11u}}},
                 start);
}

runlog::Event post(std::int64_t t_ns, std::uint64_t wr_id, std::uint32_t psn) {
    return {t_ns,
            "client",
            "post_send",
            {{"qpn", 0x11u},
             {"wr_id", wr_id},
             {"opcode", "SEND"},
             {"psn_first", psn},
             {"psn_last", psn}}};
}

runlog::Event completion(std::int64_t t_ns, std::uint64_t wr_id) {
    return {t_ns, "client", "wc", {{"qpn", 0x11u}, {"wr_id", wr_id}, {"status", "SUCCESS"}}};
}

std::string names(const std::vector<timeline::Row>& rows) {
    std::string out;
    for (const auto& row : rows) {
        if (const auto* event = std::get_if<runlog::Event>(&row.what))
            out += event->name + " ";
        else
            out += std::get<PacketRow>(row.what).key->is_response ? "ack " : "request ";
    }
    return out;
}

runlog::Event connect(std::int64_t t_ns, const char* name = "cm_call") {
    runlog::Event event{t_ns, "client", name, {{"call", "rdma_connect"}, {"qpn", 0x11u}}};
    if (event.name == "cm_call")
        event.fields.emplace_back("took_us", 3u);
    event.fields.emplace_back("tid", 5u);
    return event;
}

PacketRow connect_request(std::int64_t t_ns) {
    PacketRow row;
    row.t_ns = t_ns;
    row.cm = timeline::CmKey{"192.0.2.2", "192.0.2.1", 77,
                             0,           0x11,        timeline::CmKey::Kind::ConnectRequest};
    return row;
}

std::string cm_names(const std::vector<timeline::Row>& rows) {
    std::string out;
    for (const auto& row : rows) {
        const auto* event = std::get_if<runlog::Event>(&row.what);
        out += event == nullptr ? "packet " : event->name + " ";
    }
    return out;
}

TEST(Timeline, puts_a_connect_request_after_the_call_that_sent_it_whatever_the_clocks_say) {
    for (const std::int64_t client_ahead : {-400L, 0L, 400L, 5'000'000'000L}) {
        Timeline timeline({{"server", 0}, {"client", 0}}, "server");
        add_hosts(timeline);
        timeline.take(start);
        timeline.add(connect(1000 + client_ahead), start);
        timeline.add(connect_request(1100), start);
        EXPECT_EQ(cm_names(timeline.take(start)), "cm_call packet ") << client_ahead;
    }
}

TEST(Timeline, a_number_that_two_connections_had_in_turn_bounds_no_clock) {
    Timeline timeline({{"server", 0}, {"client", 0}}, "server");
    add_hosts(timeline);
    timeline.add(connect(1000), start);
    timeline.add(connect(9000), start);
    timeline.add(connect_request(1100), start);
    timeline.take(start);
    EXPECT_EQ(timeline.matcher().shift_of("client"), 0);
}

TEST(Timeline, a_call_that_has_returned_replaces_its_beginning) {
    Timeline timeline({{"server", 0}, {"client", 0}}, "server");
    add_hosts(timeline);
    timeline.take(start);
    timeline.add(connect(1000, "begun"), start);
    timeline.add(connect(1001, "begun"), start);
    timeline.add(connect(1000), start);
    EXPECT_EQ(cm_names(timeline.take(start)), "cm_call begun ");
}

TEST(Timeline,
     puts_a_request_after_its_post_and_a_completion_after_its_ack_whatever_the_clocks_say) {
    for (const std::int64_t client_ahead : {-5'000'000'000L, -400L, 0L, 400L, 5'000'000'000L}) {
        Timeline timeline({{"server", 0}, {"client", 0}},
                          "server");  // the measured offsets are wrong by all of it
        add_hosts(timeline);
        timeline.take(start);
        timeline.add(post(1000 + client_ahead, 1, 7), start);
        timeline.add(completion(1300 + client_ahead, 1), start);
        timeline.add(packet(1200, "192.0.2.2", 7, true), start);
        timeline.add(packet(1100, "192.0.2.1", 7), start);
        EXPECT_EQ(names(timeline.take(start)), "post_send request ack wc ") << client_ahead;
        EXPECT_EQ(timeline.matcher().joins().joined, 2u);
    }
}

TEST(Timeline, holds_back_what_arrived_too_lately) {
    Timeline timeline({}, "server");
    timeline.add(runlog::Event{10, "server", "note", {{"text", "a"}}}, start);
    timeline.add(runlog::Event{20, "server", "ready", {}}, start + 5ms);
    EXPECT_EQ(names(timeline.take(start + 1ms)), "note ");
    EXPECT_EQ(names(timeline.take(start + 1ms)), "");
    EXPECT_EQ(names(timeline.take(start + 5ms)), "ready ");
}

TEST(Timeline, gives_with_a_row_all_that_happened_before_it) {
    Timeline timeline({}, "server");
    timeline.add(runlog::Event{20, "server", "ready", {}}, start);
    timeline.add(runlog::Event{10, "server", "note", {{"text", "late in arriving"}}}, start + 5ms);
    EXPECT_EQ(names(timeline.take(start)), "note ready ");
}

TEST(Timeline, joins_a_packet_whose_event_arrives_after_it) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    EXPECT_EQ(timeline.matcher().joins().joined, 0u);
    timeline.add(post(1000, 1, 7), start + 1ms);
    timeline.take(start + 1ms);
    EXPECT_EQ(timeline.matcher().joins().joined, 1u);
    EXPECT_EQ(timeline.matcher().joins().joinable, 1u);
}

TEST(Timeline, a_packet_waits_longer_for_its_post_than_other_rows_do) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.take(start);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    timeline.add(runlog::Event{1200, "server", "note", {}}, start);
    EXPECT_EQ(names(timeline.take(start + 300ms, start - 1ms)), "");
    timeline.add(post(1000, 1, 7), start + 2s);
    EXPECT_EQ(names(timeline.take(start + 300ms, start - 1ms)), "post_send request note ");
    EXPECT_EQ(timeline.matcher().joins().joined, 1u);
}

TEST(Timeline, a_packet_without_a_post_waits_to_the_limit_and_no_longer) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.take(start);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    timeline.add(runlog::Event{1200, "server", "note", {}}, start + 100ms);
    EXPECT_EQ(names(timeline.take(start + 1s, start - 1ms)), "");
    EXPECT_EQ(names(timeline.take(start + 1s, start)), "request note ");
    EXPECT_FALSE(timeline.holds_rows());
}

TEST(Timeline, rows_before_a_packet_that_waits_do_not_wait) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.take(start);
    timeline.add(runlog::Event{1000, "server", "note", {}}, start);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    EXPECT_EQ(names(timeline.take(start, start - 1ms)), "note ");
    EXPECT_TRUE(timeline.holds_rows());
}

TEST(Timeline, a_packet_that_no_log_explains_does_not_wait) {
    Timeline timeline({}, "server");
    PacketRow other;
    other.t_ns = 1000;
    timeline.add(other, start);
    EXPECT_EQ(timeline.take(start, start - 1ms).size(), 1u);
}

TEST(Timeline, applies_the_measured_offset_where_no_pair_says_better) {
    // The client's clock is 500 ns ahead of that of the controlling host. The clock of the server,
    // which captures, is 200 ns ahead.
    Timeline timeline({{"server", 200}, {"client", 500}}, "server");
    timeline.add(runlog::Event{1000, "client", "note", {}}, start);
    const auto rows = timeline.take(start);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].t_ns, 700);
}

TEST(Timeline, a_wr_id_used_again_does_not_bend_the_clock) {
    Timeline timeline({{"server", 0}, {"client", 0}}, "server");
    add_hosts(timeline);
    timeline.add(post(1000, 1, 7), start);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    timeline.add(packet(1200, "192.0.2.2", 7, true), start);
    timeline.add(completion(1300, 1), start);
    timeline.add(post(5000, 1, 8), start);
    timeline.add(packet(5100, "192.0.2.1", 8), start);
    timeline.add(packet(5200, "192.0.2.2", 8, true), start);
    timeline.add(completion(5300, 1), start);
    timeline.take(start);
    EXPECT_EQ(timeline.matcher().clocks().at("client").shift(), 0);
    EXPECT_LE(timeline.matcher().clocks().at("client").uncertainty(), 100);
}

TEST(Timeline, a_second_answer_long_after_the_completion_does_not_bend_the_clock) {
    Timeline timeline({{"server", 0}, {"client", 0}}, "server");
    add_hosts(timeline);
    timeline.add(post(1000, 1, 7), start);
    timeline.add(packet(1100, "192.0.2.1", 7), start);
    timeline.add(packet(1200, "192.0.2.2", 7, true), start);
    timeline.add(packet(8000, "192.0.2.1", 7), start);
    timeline.add(packet(8100, "192.0.2.2", 7, true), start);
    timeline.add(completion(1300, 1), start);
    timeline.take(start);
    EXPECT_EQ(timeline.matcher().clocks().at("client").shift(), 0);
}

TEST(ClockBounds, keeps_an_estimate_that_is_possible_and_moves_one_that_is_not) {
    ClockBounds bounds(50);
    EXPECT_EQ(bounds.shift(), 50);
    EXPECT_FALSE(bounds.known());
    bounds.posted_before(1000, 1100);    // at most 100
    bounds.completed_after(2000, 1980);  // at least -20
    EXPECT_EQ(bounds.shift(), 50);
    EXPECT_TRUE(bounds.known());
    EXPECT_EQ(bounds.uncertainty(), 60);
    bounds.posted_before(3000, 3010);
    EXPECT_EQ(bounds.shift(), 10);
}

TEST(ClockBounds, without_a_measurement_are_equal_or_in_the_middle) {
    ClockBounds bounds;
    bounds.posted_before(1000, 1100);  // at most 100
    EXPECT_EQ(bounds.shift(), 0);
    bounds.posted_before(1000, 900);  // at most -100
    EXPECT_EQ(bounds.shift(), -100);
    bounds.completed_after(2000, 1700);  // at least -300
    EXPECT_EQ(bounds.shift(), -200);
}

runlog::Event driver(std::int64_t t_ns, const char* step, const char* opcode, std::uint32_t psn) {
    return {t_ns,
            "client",
            "driver",
            {{"step", step},
             {"qpn", 0x11u},
             {"opcode_name", opcode},
             {"dest_qpn", 0x11u},
             {"psn", psn}}};
}

// The driver sends a packet shortly before it is captured, and receives one shortly afterwards.
TEST(Timeline, the_steps_of_a_driver_tell_how_far_its_clock_is_off) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.add(driver(5'001'000, "transmit", "RC SEND Only", 7), start);
    timeline.add(driver(5'009'000, "receive", "RC Acknowledge", 7), start);
    timeline.add(packet(1'002'000, "192.0.2.1", 7), start);
    timeline.add(packet(1'008'000, "192.0.2.2", 7, true), start);
    const ClockBounds& clock = timeline.matcher().clocks().at("client");
    EXPECT_EQ(clock.shift(), -4'000'000);
    EXPECT_EQ(clock.uncertainty(), 1'000);
}

// Only the first copies belong together for sure.
TEST(Timeline, of_a_packet_that_the_driver_sent_twice_the_first_copy_tells_it) {
    Timeline timeline({}, "server");
    add_hosts(timeline);
    timeline.add(driver(5'001'000, "transmit", "RC SEND Only", 7), start);
    timeline.add(driver(6'001'000, "transmit", "RC SEND Only", 7), start);
    timeline.add(driver(6'009'000, "receive", "RC Acknowledge", 7), start);
    timeline.add(driver(6'019'000, "receive", "RC Acknowledge", 7), start);
    timeline.add(packet(1'002'000, "192.0.2.1", 7), start);
    timeline.add(packet(2'002'000, "192.0.2.1", 7), start);
    timeline.add(packet(2'008'000, "192.0.2.2", 7, true), start);
    timeline.add(packet(2'508'000, "192.0.2.2", 7, true), start);
    const ClockBounds& clock = timeline.matcher().clocks().at("client");
    EXPECT_EQ(clock.shift(), -4'000'000);
    EXPECT_EQ(clock.uncertainty(), 1'000);
}

TEST(Timeline, of_a_reader_of_packets_only_has_no_rows_of_events) {
    Timeline timeline({}, "server");
    for (const char* role : {"server", "client"}) {
        timeline.learn({0,
                        role,
                        "device",
                        {{"gid", role[0] == 's' ? "::ffff:192.0.2.1" : "::ffff:192.0.2.2"}}});
        timeline.learn({0, role, "qp_state", {{"qpn", 0x11u}, {"dest_qpn", 0x11u}}});
    }
    timeline.add(packet(2'000, "192.0.2.1", 7), start);
    timeline.add(packet(1'000, "192.0.2.1", 8), start + 1ms);
    EXPECT_TRUE(timeline.take(start + 1ms, start - 1ms).empty()) << "both await their events";
    timeline.learn(post(1, 1, 7));
    timeline.learn(post(1, 2, 8));
    const auto rows = timeline.take(start + 1ms, start - 1ms);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].number, 1U) << "by time";
    EXPECT_EQ(rows[1].number, 0U);
    for (const auto& row : rows)
        EXPECT_TRUE(std::get<PacketRow>(row.what).has_cause());
}

}  // namespace timeline_test
