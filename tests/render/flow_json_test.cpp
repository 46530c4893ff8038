#include "render/flow_json.hpp"

#include <nlohmann/json.hpp>

#include "trace/flow/connection.hpp"
#include "util/json.hpp"

namespace flow_json_test {

using namespace flow_test;
using nlohmann::json;

using FlowJson = Connection;

// Parses the JSON text, as a program does that reads it.
json read_back(const util::Json& made) {
    return json::parse(made.dump());
}

json one_latency(std::int64_t ns) {
    return {{"count", 1}, {"p50", ns}, {"p99", ns}, {"max", ns}, {"left_out", 0}};
}

json no_requests() {
    json none{{"packets", 0}, {"r_keys", json::array()}, {"other_r_keys", 0}, {"unmeasured", 0}};
    for (const char* unknown :
         {"first_psn", "last_psn", "psns", "psns_per_second", "retransmitted", "copied", "late",
          "gaps", "missing", "restarts", "ack", "read_first", "read_last"})
        none[unknown] = nullptr;
    return none;
}

json no_responses() {
    json none{
        {"packets", 0}, {"first_psn", nullptr}, {"last_psn", nullptr}, {"naks", json::object()}};
    for (const char* count : {"acks", "counted_acks", "psns_acked", "most_acked", "rnr_naks",
                              "repeated", "late", "gaps", "missing"})
        none[count] = 0;
    return none;
}

TEST_F(FlowJson, has_everything_of_both_directions) {
    feed_.at(0);
    feed_.add(packet(there, opcode::write_only, 100, 8));
    feed_.at(50);
    ack(100);
    feed_.at(60);
    read(101, 2 * mtu);
    feed_.at(70);
    response(opcode::read_first, 101);
    feed_.at(80);
    response(opcode::read_last, 102);
    feed_.at(1060);
    nak(103, syndrome::psn_error);
    const json zero_marks{{"ce", 0}, {"fecn", 0}, {"becn", 0}, {"cnps", 0}};
    const json no_icrc{{"checked", 0}, {"bad", 0}};
    const std::int64_t begin = Feed::begin;
    EXPECT_EQ(read_back(render::flow_json(conversation())),
              (json{{"flow", 1},
                    {"transport", "RC"},
                    {"network", "IPv4"},
                    {"paired_by", "run log"},
                    {"paired_by_guess", false},
                    {"path_mtu", 1024},
                    {"captured_twice", false},
                    {"directions",
                     {{{"src", "192.0.2.1"},
                       {"dst", "192.0.2.2"},
                       {"destqp", 0x11},
                       {"srcqp", 0x22},
                       {"packets", 2},
                       {"bytes", 82 + 74},
                       {"payload_bytes", 8},
                       {"first_ns", begin},
                       {"last_ns", begin + 60},
                       {"malformed", 0},
                       {"messages", {{"RDMA WRITE", 1}, {"RDMA READ", 1}}},
                       {"requests",
                        {{"packets", 2},
                         {"first_psn", 100},
                         {"last_psn", 102},
                         {"psns", 3},
                         {"psns_per_second", 1e9 / 60},
                         {"retransmitted", 0},
                         {"copied", 0},
                         {"late", 0},
                         {"gaps", 0},
                         {"missing", 0},
                         {"restarts", 0},
                         {"r_keys", {0, 0x77}},
                         {"other_r_keys", 0},
                         {"ack", one_latency(50)},
                         {"read_first", one_latency(10)},
                         {"read_last", one_latency(20)},
                         {"unmeasured", 0}}},
                       {"responses", no_responses()},
                       {"marks", zero_marks},
                       {"icrc", no_icrc}},
                      {{"src", "192.0.2.2"},
                       {"dst", "192.0.2.1"},
                       {"destqp", 0x22},
                       {"srcqp", 0x11},
                       {"packets", 4},
                       {"bytes", 62 + 62 + 2 * (62 + 1024)},
                       {"payload_bytes", 2048},
                       {"first_ns", begin + 50},
                       {"last_ns", begin + 1060},
                       {"malformed", 0},
                       {"messages", {{"READ response", 1}}},
                       {"requests", no_requests()},
                       {"responses",
                        {{"packets", 4},
                         {"first_psn", 100},
                         {"last_psn", 103},
                         {"acks", 1},
                         {"counted_acks", 1},
                         {"psns_acked", 1},
                         {"most_acked", 1},
                         {"naks", {{"PSN Sequence Error", 1}}},
                         {"rnr_naks", 0},
                         {"repeated", 0},
                         {"late", 0},
                         {"gaps", 0},
                         {"missing", 0}}},
                       {"marks", zero_marks},
                       {"icrc", no_icrc}}}}}));
}

TEST_F(FlowJson, what_is_not_known_is_null) {
    Feed feed;
    feed.add(packet(there, opcode::send_only, 100, 8));
    const json one = read_back(render::flow_json(feed.conversations()[0]));
    EXPECT_TRUE(one["paired_by"].is_null());
    EXPECT_TRUE(one["path_mtu"].is_null());
    ASSERT_EQ(one["directions"].size(), 1U);
    EXPECT_TRUE(one["directions"][0]["srcqp"].is_null());
    EXPECT_TRUE(one["directions"][0]["requests"]["ack"].is_null());
}

// PSNs of datagrams are not analyzed: the values are null.
TEST_F(FlowJson, has_the_same_keys_whatever_was_seen) {
    Feed feed;
    feed.add(datagram(there, 0x33, 100));
    feed.add(packet(back, opcode::send_only, 100, 8));
    const json datagrams = read_back(render::flow_json(feed.conversations()[0]))["directions"][0];
    const json sends = read_back(render::flow_json(feed.conversations()[1]))["directions"][0];
    EXPECT_EQ(datagrams["requests"]["first_psn"], 100);
    EXPECT_TRUE(datagrams["requests"]["gaps"].is_null());
    EXPECT_EQ(sends["requests"]["gaps"], 0);
    for (const char* part : {"requests", "responses"})
        for (const auto& [key, value] : sends[part].items())
            EXPECT_TRUE(datagrams[part].contains(key)) << key;
}

TEST_F(FlowJson, says_that_a_guess_is_one) {
    Feed feed;
    feed.add(packet(there, opcode::send_only, 100, 8));
    feed.add(answer(back, 100));
    const json one = read_back(render::flow_json(feed.conversations()[0]));
    EXPECT_EQ(one["paired_by"], "ACK PSNs");
    EXPECT_EQ(one["paired_by_guess"], true);
}

TEST_F(FlowJson, of_datagrams_judges_no_psns) {
    Feed feed;
    feed.add(datagram(there, 0x44, 5));
    const json requests =
        read_back(render::flow_json(feed.conversations()[0]))["directions"][0]["requests"];
    EXPECT_EQ(requests["first_psn"], 5);
    EXPECT_TRUE(requests.at("gaps").is_null());
    EXPECT_TRUE(requests.at("psns").is_null());
}

TEST_F(FlowJson, does_not_make_up_percentiles_of_samples_that_found_no_room) {
    flow::Conversation one;
    one.forward.requests.packets = 3;
    one.forward.requests.ack = {.count = 3, .p50 = 0, .p99 = 0, .max = 70, .left_out = 3};
    const json ack = read_back(render::flow_json(one))["directions"][0]["requests"]["ack"];
    EXPECT_TRUE(ack["p50"].is_null());
    EXPECT_TRUE(ack["p99"].is_null());
    EXPECT_EQ(ack["max"], 70);
}

TEST_F(FlowJson, totals_are_an_object_of_their_own) {
    EXPECT_EQ(read_back(render::flow_totals_json({.packets = 7,
                                                  .not_roce = 1,
                                                  .unreadable = 2,
                                                  .malformed = 3,
                                                  .evicted_streams = 4,
                                                  .evicted_packets = 5,
                                                  .evicted_bytes = 6})),
              (json{{"totals",
                     {{"packets", 7},
                      {"not_roce", 1},
                      {"unreadable", 2},
                      {"malformed", 3},
                      {"evicted_streams", 4},
                      {"evicted_packets", 5},
                      {"evicted_bytes", 6}}}}));
}

}  // namespace flow_json_test
