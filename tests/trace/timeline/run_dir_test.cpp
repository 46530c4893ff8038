#include "trace/timeline/run_dir.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "capture/pcapng_writer.hpp"
#include "support/temp_path.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/error.hpp"

namespace run_dir_test {

using timeline::read_run_info;
using timeline::trace_files;
using timeline::TraceInput;

class RunDirTest : public testing::Test {
  protected:
    RunDirTest() { std::filesystem::create_directories(path_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ + "/" + name, std::ios::app) << text;
    }

    support::TempPath temp_{"run_dir"};
    std::string path_ = temp_.str();
};

TEST_F(RunDirTest, says_that_another_directory_is_none) {
    EXPECT_FALSE(timeline::is_run_dir(path_));
    EXPECT_THROW(trace_files(path_), util::Error);
}

TEST_F(RunDirTest, reads_what_a_run_was) {
    write("run.json", R"({"step": "01_cm_write_read", "hosts": {"server": {"address": "192.0.2.1"}},
        "clock": {"client": {"offset_s": -0.5}}})");
    const auto info = read_run_info(path_);
    EXPECT_EQ(info.step, "01_cm_write_read");
    EXPECT_FALSE(info.ended);
    EXPECT_EQ(info.addresses, (std::map<std::string, std::string>{{"server", "192.0.2.1"}}));
    EXPECT_EQ(info.offsets, (std::map<std::string, std::int64_t>{{"client", -500'000'000}}));
}

TEST_F(RunDirTest, an_offset_that_no_two_clocks_have_is_ignored) {
    write("run.json",
          R"({"clock": {"server": {"offset_s": -2e9}, "client": {"offset_s": 2.1e9}}})");
    EXPECT_EQ(read_run_info(path_).offsets,
              (std::map<std::string, std::int64_t>{{"server", -2'000'000'000'000'000'000}}));
}

TEST_F(RunDirTest, a_run_has_ended_when_it_says_so) {
    write("run.json", R"({"ended": "2026-01-01T00:00:00Z"})");
    EXPECT_TRUE(read_run_info(path_).ended);
}

TEST_F(RunDirTest, broken_run_json_is_an_error) {
    for (const char* text : {"{", "[]", "7", R"({"step": 1e999})"}) {
        std::ofstream(path_ + "/run.json") << text;
        EXPECT_THROW(read_run_info(path_), util::Error) << text;
    }
}

TEST_F(RunDirTest, reads_the_hosts_with_their_counters) {
    write("run.json", R"({"hosts": {
        "server": {"device": "rxe0", "port": 2, "netem": "loss 5%", "path_mtu": 1024,
                   "command": ["server", "--count", 3], "exit_code": 1, "counters": {
                       "before": {"rxe0/2": {"sent_pkts": 1, "rcvd_pkts": -1}},
                       "after": {"rxe0/2": {"sent_pkts": 9, "rcvd_pkts": 2, "send_err": 3}}}},
        "observer": {"address": "192.0.2.9", "interface": "eth1"}}})");
    const auto info = read_run_info(path_);
    ASSERT_NE(info.host("server"), nullptr);
    const timeline::RunHost& server = *info.host("server");
    EXPECT_EQ(server.netem, "loss 5%");
    EXPECT_EQ(server.path_mtu, "1024");
    EXPECT_EQ(server.command, "server --count 3");
    EXPECT_EQ(server.exit_code, "1");
    ASSERT_EQ(server.counters.size(), 2U);
    EXPECT_EQ(server.counters[0].name, "sent_pkts");
    EXPECT_EQ(server.counters[0].after, 9U);
    EXPECT_EQ(server.counters[1].before, std::nullopt);
    ASSERT_NE(info.host("observer"), nullptr);
    EXPECT_EQ(info.host("observer")->interface, "eth1");
    EXPECT_EQ(info.host("client"), nullptr);
    EXPECT_TRUE(info.addresses.empty());
}

TEST_F(RunDirTest, values_of_other_types_are_missing) {
    write("run.json", R"({"step": 1, "link": {"rules": {}}, "clock": [], "hosts": {
        "server": {"address": 7, "interface": [], "command": null, "port": 1e30, "netem": {},
                   "counters": {"before": [], "after": 1}},
        "client": "192.0.2.2", "a/b": {}}})");
    const auto info = read_run_info(path_);
    EXPECT_EQ(info.step, "");
    EXPECT_TRUE(info.link_rules.empty() && info.offsets.empty() && info.addresses.empty());
    ASSERT_EQ(info.hosts.size(), 1U);
    const timeline::RunHost& server = info.hosts.front();
    EXPECT_EQ(server.address + server.interface + server.netem, "");
    EXPECT_EQ(server.command, "");
    EXPECT_TRUE(server.counters.empty());
    std::ofstream(path_ + "/run.json") << R"({"hosts": [1, 2]})";
    EXPECT_TRUE(read_run_info(path_).hosts.empty());
}

TEST_F(RunDirTest, hands_over_what_appears_in_the_files_and_nothing_twice) {
    write("run.json", "{}");
    TraceInput dir(trace_files(path_));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(dir.next()));

    // The role is that of the file name, not the one that the program wrote.
    write("client.jsonl", R"({"t_ns":1,"role":"devices","event":"note","text":"a"})"
                          "\n");
    const auto event = dir.next();
    ASSERT_TRUE(std::holds_alternative<runlog::Event>(event));
    EXPECT_EQ(std::get<runlog::Event>(event).role, "client");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(dir.next()));

    capture::PcapngWriter writer(capture::Sink::create(path_ + "/wire.pcapng"), {});
    writer.add_interface({});
    const std::byte bytes[3]{};
    writer.packet(0, {.time = capture::Time(5), .bytes = bytes, .original_length = 3});
    writer.flush();
    const auto frame = dir.next();
    ASSERT_TRUE(std::holds_alternative<capture::Frame>(frame));
    EXPECT_EQ(std::get<capture::Frame>(frame).time, capture::Time(5));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(dir.next()));
    EXPECT_EQ(dir.capture_damage(), "");
}

TEST_F(RunDirTest, reads_the_logs_of_all_clients_that_the_run_names) {
    write("run.json", R"({"hosts": {"server": {}, "client": {}, "client2": {"address": "192.0.2.3"},
        "client4": {}}})");
    for (const char* role : {"server", "client", "client2", "client3"})
        write(std::string(role) + ".jsonl",
              R"({"t_ns":1,"role":"client","event":"note","text":"a"})"
              "\n");
    TraceInput dir(trace_files(path_));
    const timeline::RunInfo& info = dir.files().info;
    EXPECT_EQ(info.roles, (std::vector<std::string>{"server", "client", "client2"}));
    EXPECT_EQ(info.addresses.at("client2"), "192.0.2.3");
    std::vector<std::string> roles;
    while (const auto event = dir.next_event())
        roles.push_back(event->role);
    EXPECT_EQ(roles, (std::vector<std::string>{"server", "client", "client2"}));
}

}  // namespace run_dir_test
