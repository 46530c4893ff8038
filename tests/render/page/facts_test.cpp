#include "render/page/facts.hpp"

#include <gtest/gtest.h>

#include "render/page/run_files.hpp"
#include "util/json.hpp"
#include "wire/sample_frames.hpp"

namespace facts_test {

using page_test::RunFiles;
using util::Json;

Json facts(const RunFiles& files) {
    return page::facts_of(files.run());
}

constexpr std::string_view no_capture = R"(["Capture", "none: the run was not captured", false])";

Json with_capture_line(Json before) {
    before.push_back(Json::parse(no_capture));
    return before;
}

TEST(PageFacts, a_program_is_shown_with_its_command_and_its_end) {
    const auto shown = [](const std::string& client) {
        const std::string json =
            R"({"hosts": {"server": {"command": ["s"], "exit_code": 0}, "client": )" + client +
            "}}";
        const RunFiles files(json);
        return facts(files)[0];
    };
    EXPECT_EQ(shown(R"({"command": ["client", "--count", 3], "exit_code": 0})"),
              Json({"The client", "client --count 3: it succeeded", false}));
    EXPECT_EQ(shown(R"({"command": ["client"], "exit_code": 1})"),
              Json({"The client", "client: it failed with exit code 1", true}));
    EXPECT_EQ(shown(R"({"command": ["client"]})"),
              Json({"The client", "client: it is still running", true}));
    EXPECT_EQ(shown("{}"), Json({"The server", "s: it succeeded", false}));
}

TEST(PageFacts, hosts_and_rules_follow_the_programs_and_the_server_is_last) {
    constexpr std::string_view json = R"({
        "hosts": {"server": {"address": "192.0.2.1", "device": "rxe0", "path_mtu": 1024,
                             "kernel": "6.1", "rdma_core": "44.0"},
                  "client": {"address": "192.0.2.2", "kernel": "6.12"}},
        "link": {"rules": ["drop 3", 7, "delay 1ms"]}})";
    const RunFiles files(json);
    EXPECT_EQ(facts(files), with_capture_line(Json::parse(R"([
        ["The client's host", "192.0.2.2, kernel 6.12", false],
        ["The server's host", "192.0.2.1, rxe0, path MTU 1024, kernel 6.1, rdma-core 44.0", false],
        ["The link emulator's rule", "drop 3", false],
        ["The link emulator's rule", "delay 1ms", false]])")));
}

TEST(PageFacts, rules_that_are_no_list_are_not_shown) {
    constexpr std::string_view json = R"({"hosts": {"server": {}}, "link": {"rules": "drop"}})";
    EXPECT_EQ(facts(RunFiles(json)), with_capture_line(Json::array()));
    constexpr std::string_view none = R"({"hosts": {"server": {}}})";
    EXPECT_EQ(facts(RunFiles(none)), with_capture_line(Json::array()));
}

TEST(PageFacts, a_capture_is_shown_with_what_it_lacks) {
    const auto shown = [](const std::string& capture) {
        const std::string json = R"({"hosts": {"server": {}}, "capture": )" + capture + "}";
        const RunFiles files(json);
        const auto frame = wire::encode(
            wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv4, 4));
        files.capture({frame, frame});
        return facts(files)[0];
    };
    EXPECT_EQ(shown("{}"), Json({"Capture", "2 packets", false}));
    EXPECT_EQ(shown(R"({"dropped": 0})"),
              Json({"Capture", "2 packets, 0 dropped by the capture", false}));
    EXPECT_EQ(shown(R"({"dropped": 3})"),
              Json({"Capture", "2 packets, 3 dropped by the capture", true}));
}

TEST(PageFacts, a_capture_that_ends_inside_a_packet_is_bad) {
    const RunFiles files(R"({"capture": {"dropped": 0}})");
    const auto frame = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv4, 4));
    files.capture({frame, frame});
    const std::string wire = files.path() + "/wire.pcapng";
    std::filesystem::resize_file(wire, std::filesystem::file_size(wire) - 4);
    EXPECT_EQ(
        facts(files)[0],
        Json({"Capture", "1 packets, 0 dropped by the capture; it ends inside a packet", true}));
}

TEST(PageFacts, a_capture_file_alone_shows_its_hosts) {
    const RunFiles files("{}");
    const auto frame = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv4, 4));
    files.capture({frame});
    const timeline::FinishedRun run(files.path() + "/wire.pcapng");
    EXPECT_EQ(page::facts_of(run), Json::parse(R"([["On the client's side", "192.0.2.2", false],
                              ["On the server's side", "192.0.2.1", false],
                              ["Capture", "1 packets", false]])"));
}

TEST(PageFacts, packets_without_an_event_are_counted) {
    const RunFiles files(page_test::two_hosts);
    files.log({1, "client", "note", {{"text", "a"}}});
    const auto frame = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv4, 4));
    files.capture({frame, frame});
    const Json all = facts(files);
    ASSERT_EQ(all.size(), 4U) << all;
    EXPECT_EQ(all[3][0], "Packets with a cause");
    EXPECT_EQ(all[3][1],
              "0 of 2: 0 by a work request, 0 by a connection's set-up; no event accounts for 2");
}

TEST(PageAbout, has_the_runs_name_start_and_backend) {
    const RunFiles files("{}");
    const auto about = [&](std::string_view json) {
        std::ofstream(files.path() + "/run.json") << json;
        return page::about(timeline::trace_files(files.path()));
    };
    const std::string name = files.path().substr(files.path().rfind('/') + 1);
    const std::string running = ". The run had not ended when this page was made";
    EXPECT_EQ(about("{}"), name + running);
    EXPECT_EQ(about(R"({"ended": "x"})"), name);
    EXPECT_EQ(about(R"({"ended": "x", "started": "2026-01-01T00:00:00Z", "backend": "qemu"})"),
              name + ", started 2026-01-01T00:00:00Z, backend qemu");
}

TEST(PageAbout, of_a_capture_names_the_logs_beside_it) {
    const RunFiles files("{}");
    files.capture({});
    files.log({1, "client", "note", {{"text", "a"}}});
    const std::string log = files.path() + "/client.jsonl";
    EXPECT_EQ(page::about(timeline::trace_files(files.path() + "/wire.pcapng", {log})),
              "wire.pcapng, log " + log);
}

}  // namespace facts_test
