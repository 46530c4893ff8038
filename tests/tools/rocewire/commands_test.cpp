// Runs rocewire like a user, between two sockets that take the place of the machines.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulator/unix_socket.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "util/fd.hpp"

namespace rocewire_test {

using namespace std::chrono_literals;
using support::Argv;
using support::Outcome;

std::string rocewire() {
    return (support::build_dir() / "rocewire").string();
}

class LinkCommands : public testing::Test {
  protected:
    LinkCommands() {
        std::filesystem::create_directory(folder_.path());
        for (const char* name : {"one", "two"})
            listeners_.push_back(emulator::listen_unix(path(name)));
    }

    std::string path(const std::string& name) const { return folder_.str() + "/" + name; }
    std::string text_of(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
    }

    // Starts the emulator and waits until both hosts are connected.
    void start(const Argv& options = {}) {
        Argv argv{rocewire(),           "--control", path("control"),     "run", "--port",
                  "one=" + path("one"), "-p",        "two=" + path("two")};
        argv.insert(argv.end(), options.begin(), options.end());
        link_ = std::make_unique<support::Process>(argv);
        for (const util::Fd& listener : listeners_) {
            ASSERT_TRUE(readable(listener));
            hosts_.emplace_back(::accept(listener.get(), nullptr, nullptr));
        }
        ASSERT_TRUE(link_->await("ready: ", 10s));
    }
    Outcome stop() {
        link_->signal(SIGTERM);
        return link_->wait(10s);
    }
    Outcome command(const Argv& words, const Argv& environment = {}) const {
        Argv argv{rocewire(), "-c", path("control")};
        argv.insert(argv.end(), words.begin(), words.end());
        return support::run(argv, environment);
    }
    static bool readable(const util::Fd& fd) {
        pollfd ready{fd.get(), POLLIN, 0};
        return poll(&ready, 1, 10000) == 1;
    }
    // Sends a frame to all from the first host, and waits until the second has received it.
    void pass_frame() {
        std::array<unsigned char, 64> bytes{};
        bytes[3] = 60;
        std::fill_n(bytes.begin() + 4, 6, 0xff);
        bytes[10] = 2;
        bytes[16] = 8;
        bytes[17] = 6;
        ASSERT_EQ(send(hosts_[0].get(), bytes.data(), bytes.size(), 0), 64);
        std::array<unsigned char, 64> received{};
        ASSERT_TRUE(readable(hosts_[1]));
        ASSERT_EQ(recv(hosts_[1].get(), received.data(), received.size(), MSG_WAITALL), 64);
        EXPECT_EQ(received, bytes);
    }

    support::TempPath folder_{"rocewire"};
    std::vector<util::Fd> listeners_;
    std::vector<util::Fd> hosts_;
    std::unique_ptr<support::Process> link_;
};

constexpr const char* heading =
    "host                     frames from    MiB from   frames to      MiB to B waiting  "
    "dropped\n";

TEST_F(LinkCommands, the_emulator_runs_until_a_signal_stops_it) {
    start({"drop the 3rd packet from one"});
    const Outcome ended = stop();
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_NE(ended.err.find("rocewire: ready: 2 hosts, 1 rules\n"), std::string::npos)
        << ended.err;
    EXPECT_NE(ended.err.find("rocewire: one is connected\n"), std::string::npos);
    EXPECT_EQ(ended.out, "");
    EXPECT_FALSE(std::filesystem::exists(path("control")));
}

TEST_F(LinkCommands, status_lists_hosts_rules_and_counters) {
    start({"drop the 3rd packet from one"});
    EXPECT_EQ(command({"status"}).all(),
              fmt::format("exit 0\n{}"
                          "one        connected               0        0.00           0        "
                          "0.00         0        0\n"
                          "two        connected               0        0.00           0        "
                          "0.00         0        0\n"
                          "\nrule    seen   taken\n"
                          "   1       0       0  drop the 3rd packet from one\n",
                          heading));
    pass_frame();
    hosts_.pop_back();
    EXPECT_TRUE(link_->await("two has disconnected", 10s));
    EXPECT_EQ(command({"clear"}).all(), "exit 0\nno rules\n");
    const std::string listed = command({"status"}).out;
    EXPECT_EQ(listed.substr(0, listed.find("two  ")),
              fmt::format("{}one        connected               1        0.00           0        "
                          "0.00         0        0\n",
                          heading));
    EXPECT_TRUE(listed.ends_with("\n\nno rules\n")) << listed;
}

TEST_F(LinkCommands, status_is_one_json_object_if_asked) {
    start({"drop the 1st packet from one"});
    pass_frame();  // it is no RoCE packet
    const Outcome outcome = command({"status", "--json"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(
        outcome.out,
        fmt::format(
            R"({{"ok":true,"hosts":[{{"name":"one","address":"{}","connected":true,)"
            R"("frames_in":1,"bytes_in":60,"frames_out":0,"bytes_out":0,"waiting":0,)"
            R"("undelivered":0,"too_short":0,"recorded_packets":0}},{{"name":"two","address":"{}",)"
            R"("connected":true,"frames_in":0,"bytes_in":0,"frames_out":1,)"
            R"("bytes_out":60,"waiting":0,"undelivered":0,"too_short":0,"recorded_packets":0}}],"rules":)"
            R"([{{"rule":1,"text":"drop the 1st packet from one","seen":0,"taken":0}}],)"
            R"("held":0,"recording":null,"recorded":0}})"
            "\n",
            path("one"), path("two")));
}

TEST_F(LinkCommands, status_repeats_with_what_changed) {
    start();
    support::Process watching({rocewire(), "-c", path("control"), "status", "--watch"});
    ASSERT_TRUE(watching.await("no rules\n", 10s));
    pass_frame();
    ASSERT_TRUE(
        watching.await("  in the last second               1        0.00           0", 10s));
    EXPECT_TRUE(watching.output().starts_with("\x1b[H\x1b[2J"));
    EXPECT_NE(
        watching.output().find("  in the last second               0        0.00           1"),
        std::string::npos);
    watching.signal(SIGTERM);
    EXPECT_EQ(watching.wait(10s).exit_code, 128 + SIGTERM);
}

TEST_F(LinkCommands, status_of_an_emulator_that_was_started_again_does_not_compare_its_hosts) {
    const util::Fd control = emulator::listen_unix(path("control"));
    support::Process watching({rocewire(), "-c", path("control"), "status", "--watch"});
    const auto host = [](const char* name, int frames) {
        return fmt::format(R"({{"name":"{}","address":"x","connected":true,"frames_in":{},)"
                           R"("bytes_in":0,"frames_out":0,"bytes_out":0,"waiting":0,)"
                           R"("undelivered":0,"too_short":0,"recorded_packets":0}})",
                           name, frames);
    };
    const auto answer = [&](const std::string& hosts) {
        ASSERT_TRUE(readable(control));
        const util::Fd fd(::accept(control.get(), nullptr, nullptr));
        // If it is closed with a request that was not read, the answer may be lost.
        std::array<char, 64> request{};
        ASSERT_GT(recv(fd.get(), request.data(), request.size(), 0), 0);
        const std::string text = R"({"ok":true,"hosts":[)" + hosts +
                                 R"(],"rules":[],"held":0,"recording":null,"recorded":0})" + "\n";
        EXPECT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    };
    answer(host("one", 10) + ',' + host("two", 20));
    answer(host("two", 25) + ',' + host("one", 3) + ',' + host("three", 1));
    ASSERT_TRUE(watching.await("three", 10s));
    ASSERT_TRUE(readable(control)) << "the listing is complete";
    const std::string out = watching.output();
    const std::string rate = "  in the last second ";
    EXPECT_EQ(out.find(rate), out.find(rate + "              5 "));
    EXPECT_EQ(out.find(rate), out.rfind(rate));
    watching.signal(SIGTERM);
    EXPECT_EQ(watching.wait(10s).exit_code, 128 + SIGTERM);
}

TEST_F(LinkCommands, status_counts_in_mebibytes) {
    start();
    std::vector<unsigned char> bytes(4 + 1500);
    bytes[2] = 1500 >> 8;
    bytes[3] = 1500 & 0xff;
    std::fill_n(bytes.begin() + 4, 6, 0xff);
    std::vector<unsigned char> received(bytes.size());
    for (unsigned i = 0; i < 1049; ++i) {  // 1.5006 MiB
        ASSERT_EQ(send(hosts_[0].get(), bytes.data(), bytes.size(), 0), 1504);
        ASSERT_EQ(recv(hosts_[1].get(), received.data(), received.size(), MSG_WAITALL), 1504);
    }
    EXPECT_EQ(command({"status"}).out,
              fmt::format("{}one        connected            1049        1.50           0        "
                          "0.00         0        0\n"
                          "two        connected               0        0.00        1049        "
                          "1.50         0        0\n\nno rules\n",
                          heading));
}

TEST_F(LinkCommands, rules_are_added_counted_and_removed) {
    start();
    write("rules", "# two rules\ndelay 1ms every 2nd packet\n\nduplicate the 5th packet to two\n");
    EXPECT_EQ(command({"add", "drop the 3rd packet from one", "-f", path("rules")}).all(),
              "exit 0\nrule 1: drop the 3rd packet from one\nrule 2: delay 1ms every 2nd packet\n"
              "rule 3: duplicate the 5th packet to two\n");
    EXPECT_EQ(command({"remove", "2"}).all(), "exit 0\nrule 2 is removed\n");
    EXPECT_EQ(command({"remove", "2"}).all(), "exit 1\nrocewire: there is no rule 2.\n");
    EXPECT_EQ(command({"restart"}).all(), "exit 0\nall rules count from 1\n");
    const std::string listed = command({"status"}).out;
    EXPECT_NE(listed.find("\nrule    seen   taken\n"
                          "   1       0       0  drop the 3rd packet from one\n"
                          "   3       0       0  duplicate the 5th packet to two\n"),
              std::string::npos)
        << listed;
}

TEST_F(LinkCommands, no_rule_is_added_if_one_is_wrong) {
    start();
    EXPECT_EQ(command({"add"}).all(),
              "exit 1\nrocewire: no rule was given: rocewire --help prints examples.\n");
    EXPECT_EQ(command({"add", "drop the 1st packet", "drop the packet"}).all(),
              "exit 1\nrocewire: 'packet' is not a valid packet number: 1st, 2nd, 3rd, 4th, ... "
              "(column 10).\n  drop the packet\n           ^~~~~~\n");
    write("rules", "drop the 1st packet from three\n");
    const Outcome unknown = command({"add", "--file", path("rules")});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_TRUE(unknown.err.starts_with("rocewire: " + path("rules") + ": line 1: "))
        << unknown.err;
    EXPECT_EQ(command({"add", "-f", path("none")}).all(),
              fmt::format("exit 1\nrocewire: {0}: {0} cannot be read.\n", path("none")));
    EXPECT_TRUE(command({"status"}).out.ends_with("\nno rules\n"));
}

TEST_F(LinkCommands, frames_are_recorded_from_the_start_or_on_request) {
    start({"-w", path("first.pcapng"), "--log", path("first.jsonl"), "drop the 1st packet"});
    pass_frame();
    const std::string listed = command({"status"}).out;
    EXPECT_TRUE(listed.ends_with(
        fmt::format("  drop the 1st packet\n\nrecording: 2 frames in {}\n", path("first.pcapng"))))
        << listed;
    EXPECT_EQ(command({"stop"}).all(), "exit 0\n2 frames recorded\n");
    EXPECT_EQ(command({"stop"}).all(), "exit 0\n0 frames recorded\n");
    EXPECT_EQ(command({"record", path("second.pcapng"), "--log", path("second.jsonl")}).all(),
              "exit 0\n");
    pass_frame();
    pass_frame();
    EXPECT_EQ(command({"stop"}).all(), "exit 0\n4 frames recorded\n");
    for (const char* name : {"first", "second"}) {
        EXPECT_TRUE(text_of(std::string(name) + ".pcapng").starts_with("\n\r\r\n")) << name;
        EXPECT_TRUE(std::filesystem::exists(path(std::string(name) + ".jsonl"))) << name;
    }
    EXPECT_EQ(command({"record", path("no/such/folder.pcapng")}).exit_code, 1);
}

TEST_F(LinkCommands, a_log_alone_is_recorded_without_a_capture) {
    start({"--log", path("alone.jsonl")});
    EXPECT_TRUE(command({"status"}).out.ends_with("\nrecording: 0 frames in /dev/null\n"));
    EXPECT_EQ(stop().exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(path("alone.jsonl")));
}

TEST_F(LinkCommands, a_relative_path_is_meant_in_the_folder_of_the_command) {
    start();
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    const Outcome recorded = command({"record", "relative.pcapng"});
    std::filesystem::current_path(before);
    EXPECT_EQ(recorded.all(), "exit 0\n");
    EXPECT_EQ(command({"stop"}).all(), "exit 0\n0 frames recorded\n");
    EXPECT_TRUE(std::filesystem::exists(path("relative.pcapng")));
}

TEST_F(LinkCommands, the_control_socket_may_come_from_the_environment) {
    start();
    EXPECT_EQ(support::run({rocewire(), "clear"}, {"ROCEWIRE_CONTROL=" + path("control")}).all(),
              "exit 0\nno rules\n");
    EXPECT_EQ(support::run({rocewire(), "clear"}).all(),
              "exit 1\nrocewire: no control socket: give --control SOCKET.\n");
    EXPECT_EQ(support::run({rocewire(), "clear", "-c", path("none")}).all(),
              fmt::format("exit 1\nrocewire: no link emulator responds at {}: nothing listens "
                          "there.\n",
                          path("none")));
}

TEST_F(LinkCommands, a_socket_in_use_is_not_taken) {
    start();
    EXPECT_EQ(
        command({"run", "-p", "one=" + path("other")}).all(),
        fmt::format("exit 1\nrocewire: another program already listens at {}.\n", path("control")));
    EXPECT_EQ(command({"clear"}).exit_code, 0);
}

TEST_F(LinkCommands, wrong_arguments_are_refused_with_one_sentence) {
    const std::string advice =
        "'rocewire --help' lists the commands, and 'rocewire COMMAND --help' its options.\n";
    const auto refusal = [](const Argv& words) {
        Argv argv{rocewire()};
        argv.insert(argv.end(), words.begin(), words.end());
        return support::run(argv).all();
    };
    EXPECT_EQ(refusal({}), "exit 2\nrocewire: A subcommand is required.\n" + advice);
    EXPECT_EQ(refusal({"run"}), "exit 2\nrocewire: --port is required.\n" + advice);
    EXPECT_EQ(refusal({"record"}), "exit 2\nrocewire: capture is required.\n" + advice);
    EXPECT_EQ(refusal({"remove"}), "exit 2\nrocewire: rule is required.\n" + advice);
    for (const char* port : {"one", "=/tmp/socket", "one="})
        EXPECT_EQ(refusal({"run", "-p", port}),
                  fmt::format("exit 1\nrocewire: --port is HOST=SOCKET, like "
                              "server=/tmp/server.sock, not '{}'.\n",
                              port));
    EXPECT_EQ(refusal({"run", "-p", "one=/tmp/a", "-p", "one=/tmp/b"}),
              "exit 1\nrocewire: two ports have the name one.\n");
    EXPECT_EQ(refusal({"run", "-p", "one=/tmp/a", "drop the packet"}),
              "exit 1\nrocewire: 'packet' is not a valid packet number: 1st, 2nd, 3rd, 4th, ... "
              "(column 10).\n  drop the packet\n           ^~~~~~\n");
}

TEST_F(LinkCommands, help_and_fields_are_printed) {
    const Outcome help = support::run({rocewire(), "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(
        help.out.starts_with("Emulates the link between the lab's machines: a switch that "
                             "can impair chosen packets.\nUsage: rocewire [OPTIONS] "
                             "SUBCOMMAND\n"));
    EXPECT_NE(help.out.find("\n  -c,--control SOCKET (Env:ROCEWIRE_CONTROL)\n"
                            "                              The control socket of the link "
                            "emulator\n"),
              std::string::npos);
    EXPECT_NE(help.out.find("\n  drop the 3rd packet from client where"), std::string::npos);
    EXPECT_NE(support::run({rocewire(), "remove", "--help"}).out.find("\n  rule N REQUIRED "),
              std::string::npos);
    const Outcome fields = support::run({rocewire(), "fields"});
    EXPECT_EQ(fields.exit_code, 0);
    EXPECT_TRUE(
        fields.out.starts_with("ip.dscp                   6 bits\n"
                               "ip.ecn                    2 bits\n"));
}

}  // namespace rocewire_test
