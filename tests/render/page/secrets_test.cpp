#include "render/page/secrets.hpp"

#include <gtest/gtest.h>

#include "net/endpoint.hpp"
#include "render/page/run_files.hpp"
#include "trace/timeline/first_psn_search.hpp"
#include "util/json.hpp"
#include "wire/sample_frames.hpp"

namespace secrets_test {

using page_test::RunFiles;
using util::Json;
using wire_test::Network;

timeline::Capability capability(std::uint32_t rkey) {
    timeline::Capability one;
    one.role = "server";
    one.va = 0x7f00;
    one.length = 4096;
    one.rkey = rkey;
    one.access = "remote_write";
    return one;
}

TEST(PageSecrets, a_capability_shows_its_owner_memory_and_key) {
    const RunFiles files(page_test::two_hosts);
    const auto run = files.run();
    const page::Rows rows(run, 10);
    EXPECT_EQ(page::capabilities_json({capability(0x1412), capability(0)}, rows, run),
              Json::parse(R"([
        {"owner": "server", "va": "0x7f00", "length": 4096, "rkey": "0x00001412",
         "access": "remote_write", "learned": []},
        {"owner": "server", "va": "0x7f00", "length": 4096, "rkey": "none",
         "access": "remote_write", "learned": []}])"));
    EXPECT_EQ(page::capabilities_json({}, rows, run), Json::array());
}

TEST(PageSecrets, those_who_learned_a_key_are_in_order_of_time_with_their_rows) {
    const RunFiles files(page_test::two_hosts);
    const auto run = files.run();
    page::Rows rows(run, 10);
    rows.event({1000, "server", "note", {{"text", "a"}}}, 1000, nullptr);
    rows.event({5000, "client", "exchange", {{"direction", "received"}}}, 5000, nullptr);
    auto one = capability(0x1412);
    one.learned = {{.who = "client", .t_ns = 5000, .how = "TCP", .frame = 0},
                   {.who = "server", .t_ns = 9000, .how = "TCP", .frame = 0},
                   {.who = "", .t_ns = 4000, .how = "RETH", .frame = 17}};
    EXPECT_EQ(page::capabilities_json({one}, rows, run)[0]["learned"], Json::parse(R"([
        {"who": "", "t": 3000, "how": "RETH", "frame": 17, "row": -1},
        {"who": "client", "t": 4000, "how": "TCP", "frame": 0, "row": 1},
        {"who": "server", "t": 8000, "how": "TCP", "frame": 0, "row": -1}])"));
}

// A log's times are those of its host, a packet's those of the capture.
TEST(PageSecrets, times_from_logs_are_shifted_to_the_clock_of_the_capture) {
    const RunFiles files(R"({"hosts": {"server": {"address": "192.0.2.1"},
        "client": {"address": "192.0.2.2"}},
        "clock": {"server": {"offset_s": 0}, "client": {"offset_s": 0.000002}}})");
    const auto run = files.run();
    ASSERT_EQ(run.shift_of("client"), -2000);
    page::Rows rows(run, 10);
    rows.event({0, "server", "note", {{"text", "a"}}}, 0, nullptr);
    rows.event({5000, "client", "note", {{"text", "b"}}}, 3000, nullptr);
    auto one = capability(1);
    one.learned = {{.who = "client", .t_ns = 5000, .how = "TCP", .frame = 0},
                   {.who = "client", .t_ns = 4000, .how = "RETH", .frame = 2}};
    EXPECT_EQ(page::capabilities_json({one}, rows, run)[0]["learned"], Json::parse(R"([
        {"who": "client", "t": 3000, "how": "TCP", "frame": 0, "row": 1},
        {"who": "client", "t": 4000, "how": "RETH", "frame": 2, "row": -1}])"));
}

Json first_psns_of(const std::string& path) {
    timeline::TraceInput input(timeline::trace_files(path));
    return page::first_psns_json(timeline::first_psns(input));
}

std::vector<std::byte> request(std::uint32_t psn) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 4);
    packet.bth->dest_qpn = 0x12;
    packet.bth->psn = wire::Psn(psn);
    return wire::encode(packet);
}

TEST(PageSecrets, the_first_psn_of_a_capture_without_logs_is_that_of_its_first_request) {
    const RunFiles files("{}");
    files.capture(std::vector<std::vector<std::byte>>(60, request(0x345)));
    const Json all = first_psns_of(files.path() + "/wire.pcapng");
    ASSERT_EQ(all.size(), 1U) << all;
    EXPECT_EQ(all[0]["direction"], "192.0.2.2 → 192.0.2.1 QP 0x000012");
    EXPECT_EQ(all[0]["chosen_by"], "not in the capture");
    ASSERT_EQ(all[0]["readable"].size(), 1U);
    EXPECT_EQ(all[0]["readable"][0]["where"], "BTH");
    Json frames = Json::array();
    for (int frame = 1; frame <= 50; ++frame)
        frames.push_back(frame);
    EXPECT_EQ(all[0]["readable"][0]["frames"], frames);
}

void log_connection(const RunFiles& files, const char* psn_key, const runlog::Value& psn) {
    for (const char* role : {"server", "client"}) {
        const bool is_server = std::string_view(role) == "server";
        files.log(
            {1, role, "device", {{"gid", is_server ? "::ffff:192.0.2.1" : "::ffff:192.0.2.2"}}});
        files.log({2,
                   role,
                   "qp_state",
                   {{"qpn", is_server ? 0x12U : 0x11U},
                    {"dest_qpn", is_server ? 0x11U : 0x12U},
                    {"state", "RTS"},
                    {psn_key, psn}}});
    }
}

TEST(PageSecrets, a_psn_that_the_log_hides_is_a_secret_until_a_packet_shows_it) {
    const RunFiles hidden(page_test::two_hosts);
    log_connection(hidden, "sq_psn", "secret");
    hidden.capture({});
    const Json all = first_psns_of(hidden.path());
    ASSERT_EQ(all.size(), 2U) << all;
    for (const Json& one : all) {
        EXPECT_EQ(one["psn"], "secret");
        EXPECT_EQ(one["readable"], Json::array());
    }
    EXPECT_EQ(Json({all[0]["direction"], all[1]["direction"]}),
              Json({"client QP 0x000011 → server QP 0x000012",
                    "server QP 0x000012 → client QP 0x000011"}));
}

TEST(PageSecrets, a_psn_of_the_log_is_shown_with_the_packets_that_have_it) {
    const RunFiles files(page_test::two_hosts);
    log_connection(files, "sq_psn", std::uint64_t{0x345});
    files.capture({request(0x345), request(0x346)});
    const Json all = first_psns_of(files.path());
    ASSERT_EQ(all.size(), 2U) << all;
    const Json& client = all[0];
    EXPECT_EQ(client["psn"], "0x000345");
    EXPECT_EQ(client["chosen_by"], "not in the log");
    EXPECT_EQ(client["readable"], Json::parse(R"([{"where": "BTH", "frames": [1]}])"));
}

}  // namespace secrets_test
