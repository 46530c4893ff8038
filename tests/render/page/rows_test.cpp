// The rows of a page: [0, t, side, name, text, request, notable] of an event, and [1, t, side,
// kind, text, request, notable, frame, cause, seen, sender, psn, payload, is_response] of a packet.
#include "render/page/rows.hpp"

#include <gtest/gtest.h>

#include "render/page/inflated.hpp"
#include "render/page/run_files.hpp"
#include "util/printable.hpp"
#include "wire/sample_frames.hpp"

namespace rows_test {

using page::Rows;
using page_test::RunFiles;
using page_test::two_hosts;
using page_test::values;
using util::Json;
using wire_test::Network;

// Rows of packets and events of a run, which need not be in its files.
class Table {
  public:
    explicit Table(std::string_view run_json = two_hosts, std::uint64_t most_packets = 1000)
        : files_(run_json), run_(files_.run()), rows(run_, most_packets) {}

    void packet(const wire::Packet& sent, const timeline::WorkRequest* request = nullptr) {
        frame(wire::encode(sent), {}, request);
    }
    void frame(const std::vector<std::byte>& bytes, timeline::Transmission seen = {},
               const timeline::WorkRequest* request = nullptr, const char* comment = "") {
        const auto decoded = wire::decode(bytes, wire::LinkType::Ethernet);
        auto row = timeline::row_of(decoded, bytes, 1000 * ++number_, {});
        if (seen != timeline::Transmission::First)
            row.cause = timeline::PostedRequest{.role = "client",
                                                .qpn = 1,
                                                .wr_id = 2,
                                                .opcode = "SEND",
                                                .packet = 1,
                                                .packets = 1,
                                                .posted_ns = 0,
                                                .is_response = false,
                                                .seen = seen,
                                                .length = 3};
        capture::Frame captured{.time = capture::Time(row.t_ns), .bytes = bytes};
        captured.notes.comment = comment;
        rows.packet(row, decoded, captured, static_cast<std::uint64_t>(number_), request);
    }
    void event(std::int64_t t_ns, const char* role, const char* name,
               const runlog::Fields& fields = {}) {
        rows.event({t_ns, role, name, fields}, t_ns, nullptr);
    }
    Json all() { return values(rows.take_rows()); }
    Json column(std::size_t i) {
        Json found = Json::array();
        for (const Json& row : all())
            found.push_back(row.at(i));
        return found;
    }

  private:
    RunFiles files_;
    timeline::FinishedRun run_;
    std::int64_t number_ = 0;

  public:
    Rows rows;
};

wire::Packet sample(std::uint8_t opcode, std::size_t payload = 0) {
    return wire_test::sample_packet(*wire::find_opcode(opcode), Network::Ipv4, payload);
}
wire::Packet from(const char* source, const char* destination, std::uint8_t opcode = 0x04) {
    const auto address = [](unsigned char last) { return wire::Ipv4Address{{192, 0, 2, last}}; };
    auto packet = sample(opcode, 4);
    packet.ipv4->src = address(static_cast<unsigned char>(*source - '0'));
    packet.ipv4->dst = address(static_cast<unsigned char>(*destination - '0'));
    return packet;
}

TEST(PageRows, a_packet_has_the_kind_of_its_operation) {
    Table table;
    Json expected = Json::array();
    for (const auto& opcode : wire::opcodes()) {
        const std::string_view name = opcode.name;
        const auto has = [&](std::string_view word) {
            return name.find(word) != std::string_view::npos;
        };
        expected.push_back(has("SEND") ? "send"
                           : has("ATOMIC") || has("Atomic") || has("CmpSwap") || has("FetchAdd")
                               ? "atomic"
                           : has("WRITE")       ? "write"
                           : has("READ")        ? "read"
                           : has("Acknowledge") ? "ack"
                           : has("CNP")         ? "cnp"
                                                : "other");
        table.packet(wire_test::sample_packet(opcode, Network::Ipv4, 4));
    }
    EXPECT_EQ(table.column(3), expected);
}

TEST(PageRows, naks_messages_of_the_connection_manager_and_tcp_have_kinds_of_their_own) {
    Table table;
    auto answer = sample(0x11);
    answer.aeth->syndrome = 0x60;
    table.packet(answer);
    answer.aeth->syndrome = 0x21;
    table.packet(answer);
    const auto mad = wire_test::cm_mad(wire::CmAttribute::ReadyToUse,
                                       std::vector<std::byte>(wire::Mad::data_size));
    table.packet(wire_test::cm_packet(mad, Network::Ipv4));
    const std::string ethernet = "020000000001 020000000002 ";
    table.frame(wire_test::from_hex(ethernet +
                                    "0800 4500 0028 0000 4000 4006 0000 c0000202 c0000201 9c40 "
                                    "4853 00000000 00000000 5002 0000 0000 0000"));
    table.frame(wire_test::from_hex(ethernet + "0806 0001"));
    EXPECT_EQ(table.column(3), Json({"nak", "rnr", "cm", "exchange", "other"}));
}

TEST(PageRows, a_packet_is_on_its_senders_side) {
    Table table;
    table.packet(from("2", "1"));
    table.packet(from("1", "2"));
    table.packet(from("2", "9"));
    table.packet(from("9", "1"));
    table.packet(from("1", "9"));
    const Json all = table.all();
    const std::string text =
        "RC SEND Only psn 0xfffffe qp 0x012345 ack-req solicited becn payload 4";
    EXPECT_EQ(all[0], Json({1, 0, 0, "send", text, -1, 0, 1, "", 0, -1, 0xfffffe, 4, 0}));
    EXPECT_EQ(all[1], Json({1, 1000, 1, "send", text, -1, 0, 2, "", 0, -1, 0xfffffe, 4, 0}));
    EXPECT_EQ(all[2][2], 2);
    EXPECT_EQ(all[2][4], "192.0.2.2 → 192.0.2.9: " + text);
    EXPECT_EQ(all[3][4], "192.0.2.9 → 192.0.2.1: " + text);
    EXPECT_EQ(all[4][4], "192.0.2.1 → 192.0.2.9: " + text);
    // Bytes, by stream, in intervals of 1000 ns; packets of other hosts are not counted.
    using Sum = std::vector<std::uint64_t>;
    EXPECT_EQ(table.rows.throughput().sums(), (page::Throughput::Sums{Sum{4}, Sum{0, 4}, {}, {}}));
    EXPECT_EQ(table.rows.throughput_begins_ns(), 1000);
    EXPECT_EQ(table.rows.origin_ns(), 1000);
}

TEST(PageRows, both_programs_on_one_host_have_no_sides) {
    Table table(R"({"hosts": {"server": {"address": "192.0.2.1"},
                              "client": {"address": "192.0.2.1"}}})");
    table.packet(from("1", "1"));
    EXPECT_EQ(table.column(2), Json::array({2}));
}

TEST(PageRows, further_clients_are_named) {
    Table table(R"({"hosts": {"server": {"address": "192.0.2.1"},
        "client": {"address": "192.0.2.2"}, "client2": {"address": "192.0.2.3"}}})");
    for (const auto& [source, destination] :
         {std::pair{"2", "1"}, {"1", "2"}, {"3", "1"}, {"1", "3"}, {"3", "2"}})
        table.packet(from(source, destination));
    std::vector<std::string> begin;
    for (const Json& text : table.column(4))
        begin.push_back(text.get<std::string>().substr(0, text.get<std::string>().find("RC SEND")));
    EXPECT_EQ(begin, (std::vector<std::string>{
                         "", "", "client2: ", "to client2: ", "192.0.2.3 → 192.0.2.2: "}));
}

TEST(PageRows, a_packet_is_notable_if_something_is_wrong_with_it) {
    Table table;
    table.packet(sample(0x04, 4));
    auto bytes = wire::encode(sample(0x04, 4));
    bytes.back() ^= std::byte{1};
    table.frame(bytes);
    bytes = wire::encode(sample(0x04, 4));
    bytes[42] = std::byte{0x1f};
    table.frame(bytes);
    table.frame(wire::encode(sample(0x04, 4)), timeline::Transmission::Again);
    table.frame(wire::encode(sample(0x04, 4)), timeline::Transmission::Late);
    auto answer = sample(0x11);
    table.packet(answer);
    answer.aeth->syndrome = 0x21;
    table.packet(answer);
    const Json all = table.all();
    Json notable = Json::array(), seen = Json::array(), response = Json::array();
    for (const Json& row : all) {
        notable.push_back(row[6]);
        seen.push_back(row[9]);
        response.push_back(row[13]);
    }
    EXPECT_EQ(notable, Json({0, 1, 1, 1, 1, 0, 1}));
    EXPECT_EQ(seen, Json({0, 0, 0, 1, 2, 0, 0}));
    EXPECT_EQ(response, Json({0, 0, 0, 0, 0, 1, 1}));
}

TEST(PageRows, an_event_is_notable_if_it_tells_of_a_failure_or_of_the_links_action) {
    Table table;
    table.event(100, "client", "wc", {{"status", "SUCCESS"}});
    table.event(200, "client", "wc", {{"status", "RETRY_EXC_ERR"}});
    table.event(300, "server", "error", {{"text", "no"}});
    table.event(400, "server", "lost", {{"count", 1U}});
    table.event(500, "server", "note", {{"text", "two  spaces"}});
    table.event(600, "link", "note", {{"text", "a"}, {"from", "client"}});
    table.event(700, "link", "note", {{"text", "b"}, {"from", "server"}});
    table.event(800, "other", "note", {{"text", "c"}});
    const Json all = table.all();
    Json notable = Json::array(), side = Json::array(), time = Json::array();
    for (const Json& row : all) {
        EXPECT_EQ(row[0], 0);
        EXPECT_EQ(row[5], -1);
        time.push_back(row[1]);
        side.push_back(row[2]);
        notable.push_back(row[6]);
    }
    EXPECT_EQ(time, Json({0, 100, 200, 300, 400, 500, 600, 700}));
    EXPECT_EQ(side, Json({0, 0, 1, 1, 1, 0, 1, 0}));
    EXPECT_EQ(notable, Json({0, 1, 1, 1, 0, 1, 1, 0}));
    EXPECT_EQ(all[4][4], "note two spaces");
    EXPECT_TRUE(all[5][4].get<std::string>().starts_with("link: note a"));
    EXPECT_TRUE(all[7][4].get<std::string>().starts_with("other: note c"));
}

TEST(PageRows, the_cause_of_a_packet_is_in_the_logs_or_else_in_its_comment) {
    const auto bytes = wire::encode(sample(0x04, 4));
    Table table;
    table.frame(bytes, timeline::Transmission::Again, nullptr, "a comment");
    table.frame(bytes, {}, nullptr, "a comment");
    EXPECT_EQ(table.column(8), Json({"client wr 2, again", ""}));

    const RunFiles files("{}");
    files.capture({bytes});
    const timeline::FinishedRun capture(files.path() + "/wire.pcapng");
    Rows rows(capture, 10);
    const auto decoded = wire::decode(bytes, wire::LinkType::Ethernet);
    const auto row = timeline::row_of(decoded, bytes, 1, {});
    capture::Frame frame{.time = capture::Time(1), .bytes = bytes};
    frame.notes.comment = "client\twr 1";
    rows.packet(row, decoded, frame, 1, nullptr);
    EXPECT_EQ(values(rows.take_rows())[0][8], util::printable("client\twr 1"));
}

TEST(PageRows, a_chunk_of_a_collective_has_a_row_before_its_first_packet) {
    timeline::WorkRequest request;
    request.role = "server";
    request.chunk = logged::Chunk{.all_reduce = 2, .sent_before = 3, .rank = 0, .ranks = 2};
    Table table;
    table.event(100, "server", "note");
    table.packet(sample(0x06, 4), &request);
    table.packet(sample(0x08, 4), &request);
    table.event(3000, "client", "note");
    const Json all = table.all();
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[1], Json({0, 900, 1, "chunk",
                            "all_reduce 2 · step 2 · chunk 3 · rank 0 → 1 · complete", 0, 0}));
    EXPECT_EQ(all[2][0], 1);
    EXPECT_EQ(all[3][0], 1);
    EXPECT_EQ(table.rows.requests().at(0).chunk_row, 1U);
    EXPECT_EQ(table.rows.row_of_event("client", 3000), 4U);
    EXPECT_EQ(table.rows.kept().events, 2U);
    EXPECT_EQ(values(table.rows.take_details()).size(), 5U);
}

TEST(PageRows, rows_beyond_the_limit_are_counted_but_left_out) {
    Table table(two_hosts, 2);
    for (int i = 0; i < 3; ++i)
        table.packet(sample(0x04, 4));
    EXPECT_EQ(table.rows.kept().packets, 2U);
    EXPECT_EQ(table.rows.left_out().packets, 1U);
    table.event(1, "client", "note");
    EXPECT_EQ(table.rows.left_out().events, 1U);
    EXPECT_EQ(table.all().size(), 2U);
    Table events(two_hosts, 2);
    for (int i = 0; i < 5; ++i)
        events.event(i, "client", "note");
    EXPECT_EQ(events.rows.kept().events, 4U);
    EXPECT_EQ(events.rows.left_out().events, 1U);
}

TEST(PageRows, an_events_row_is_found_by_its_time) {
    Table table;
    table.event(100, "client", "note");
    table.packet(sample(0x04, 4));
    table.event(200, "client", "note");
    table.event(150, "server", "note");
    EXPECT_EQ(table.rows.row_of_event("client", 0), 0U);
    EXPECT_EQ(table.rows.row_of_event("client", 100), 0U);
    EXPECT_EQ(table.rows.row_of_event("client", 101), 2U);
    EXPECT_EQ(table.rows.row_of_event("client", 201), std::nullopt);
    EXPECT_EQ(table.rows.row_of_event("server", 150), 3U);
    EXPECT_EQ(table.rows.row_of_event("other", 0), std::nullopt);
}

TEST(PageRows, packets_refer_to_their_request_and_its_sender) {
    Table table;
    timeline::WorkRequest first, second, third;
    first.role = second.role = "client";
    first.qpn = second.qpn = 0x11;
    third.role = "client";
    third.qpn = 0x12;
    for (const auto* request : {&first, &second, &first, &third})
        table.packet(sample(0x04, 4), request);
    const Json all = table.all();
    EXPECT_EQ(Json({all[0][5], all[1][5], all[2][5], all[3][5]}), Json({0, 1, 0, 2}));
    EXPECT_EQ(Json({all[0][10], all[1][10], all[2][10], all[3][10]}), Json({0, 0, 0, 1}));
    ASSERT_EQ(table.rows.senders().size(), 2U);
    EXPECT_EQ(table.rows.senders()[1], (std::pair<std::string, std::uint32_t>("client", 0x12)));
    ASSERT_EQ(table.rows.requests().size(), 3U);
    EXPECT_FALSE(table.rows.requests()[0].row);
}

}  // namespace rows_test
