// lab/lab trace: programs that know nothing of this project, and every packet of theirs has a cause.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/step_checks.hpp"

namespace trace_test {

using support::Argv;
using support::LabRun;

LabRun trace(const Argv& words, const Argv& environment = {}) {
    Argv argv{"lab/lab", "trace"};
    argv.insert(argv.end(), words.begin(), words.end());
    return support::read_run(support::run(argv, environment, std::chrono::minutes(3)));
}

class Trace : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

struct Program {
    const char* name;
    Argv server;
    Argv client;  // without the server's address, which perftest and others take last
    bool exits_with_0 = true;
};

// perftest's report needs a processor of steady frequency: without one it exits with 1 after the
// transfer.
Program perftest(const char* name, Argv words) {
    words.insert(words.end(), {"-n", "20", "-x", "1"});
    return {name, words, words, false};
}

class TracedProgram : public Trace, public testing::WithParamInterface<Program> {};

// The PSNs on the wire, by tshark, of what goes to a queue pair.
std::map<std::uint32_t, std::set<std::uint32_t>> psns_to(const LabRun& run) {
    std::map<std::uint32_t, std::set<std::uint32_t>> psns;
    for (const auto& packet : support::tshark_packets(run.file("wire.pcapng")))
        psns[packet.dest_qpn].insert(packet.psn);
    return psns;
}

// Of each queue pair of a log, the one that it is connected to.
std::map<std::uint64_t, std::uint64_t> peers_of(const std::vector<runlog::Event>& log) {
    std::map<std::uint64_t, std::uint64_t> peers;
    for (const auto& event : LabRun::all(log, "qp_state"))
        if (const auto peer = event.number("dest_qpn"); peer && event.number("qpn"))
            peers[*event.number("qpn")] = *peer;
    return peers;
}

void expect_predicted_psns_on_the_wire(const LabRun& run) {
    const auto wire = psns_to(run);
    std::size_t predicted = 0;
    for (const auto* log : {&run.server, &run.client}) {
        const auto peers = peers_of(*log);
        for (const auto& post : LabRun::all(*log, "post_send")) {
            if (!post.number("psn_first"))
                continue;
            const auto peer = post.number("dest_qpn");
            const auto to =
                static_cast<std::uint32_t>(peer ? *peer : peers.at(*post.number("qpn")));
            // Of a READ the others are those of the responses, to the other queue pair.
            const bool is_read = post.text("opcode") == "RDMA_READ";
            const auto last = *post.number(is_read ? "psn_first" : "psn_last");
            for (auto psn = *post.number("psn_first"); psn <= last; ++psn, ++predicted)
                EXPECT_TRUE(wire.contains(to) &&
                            wire.at(to).contains(static_cast<std::uint32_t>(psn)))
                    << runlog::to_json(post);
        }
    }
    EXPECT_GT(predicted, 0U);
}

TEST_P(TracedProgram, has_a_call_for_each_packet_and_a_packet_for_each_psn) {
    const Program& program = GetParam();
    Argv words{"--"};
    words.insert(words.end(), program.server.begin(), program.server.end());
    words.emplace_back("::");
    words.insert(words.end(), program.client.begin(), program.client.end());
    words.emplace_back("{server}");
    const LabRun run = trace(words);
    if (program.exits_with_0) {
        EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    }
    ASSERT_FALSE(run.dir.empty()) << run.outcome.all();
    support::expect_every_packet_joined(run);
    expect_predicted_psns_on_the_wire(run);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, TracedProgram,
    testing::Values(perftest("ib_write_bw", {"ib_write_bw", "--noPeak", "-s", "10000"}),
                    perftest("old_post_send",
                             {"ib_write_bw", "--noPeak", "-s", "10000", "--use_old_post_send"}),
                    perftest("datagrams", {"ib_send_bw", "--noPeak", "-c", "UD", "-s", "1024"}),
                    perftest("uc", {"ib_send_bw", "--noPeak", "-c", "UC", "-s", "10000"}),
                    perftest("read", {"ib_read_bw", "--noPeak", "-s", "10000"}),
                    perftest("atomic", {"ib_atomic_lat"}),
                    perftest("srq",
                             {"ib_send_bw", "--noPeak", "-s", "10000", "--use-srq", "-q", "2"}),
                    Program{"rping", {"rping", "-s", "-C", "3"}, {"rping", "-c", "-C", "3", "-a"}},
                    Program{"ucmatose",
                            {"ucmatose", "-c", "2", "-C", "5"},
                            {"ucmatose", "-c", "2", "-C", "5", "-s"}},
                    Program{"fi_pingpong",
                            {"fi_pingpong", "-p", "verbs", "-e", "msg", "-I", "5"},
                            {"fi_pingpong", "-p", "verbs", "-e", "msg", "-I", "5"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Trace, a_server_that_goes_on_is_stopped_and_no_failure) {
    const LabRun run =
        trace({"--", "rping", "-s", "-P", "::", "rping", "-c", "-C", "1", "-a", "{server}"});
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_every_packet_joined(run);
}

TEST_F(Trace, says_what_is_wrong) {
    const auto says = [](const Argv& words, const std::string& sentence,
                         const Argv& settings = {}) {
        const LabRun run = trace(words, settings);
        EXPECT_NE(run.outcome.exit_code, 0);
        EXPECT_NE(run.outcome.all().find(sentence), std::string::npos) << run.outcome.all();
    };
    says({"--", "true"}, "two commands are needed, with :: between them");
    says({"--after", "soon", "--", "true", "::", "true"},
         "--after takes whole seconds, not 'soon'");
    says({"--", "no-such-program", "::", "true"}, "no-such-program");
    says({"--", "sleep", "30", "::", "true"}, "--after SECONDS starts the client without that",
         {"CAPTURE_SERVER_WAIT_SECONDS=2"});
}

}  // namespace trace_test
