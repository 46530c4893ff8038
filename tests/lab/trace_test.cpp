// lab/lab trace with programs that do not use this project's code. Each packet was predicted by a
// post, and each request ends as the log reports.
#include <algorithm>
#include <filesystem>
#include <list>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/send_queues.hpp"
#include "support/step_checks.hpp"
#include "support/traced_packets.hpp"

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
    Argv client;  // the server's address is appended unless an argument has {server}
    bool exits_with_0 = true;
    std::int64_t uncounted = 0;  // packets that may arrive for a queue pair that was destroyed
    bool needs_ucx = false;
};

// GoogleTest requires this name.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Program& program, std::ostream* out) {
    *out << program.name;
}

// perftest's report requires a CPU with a constant frequency. Without one, perftest exits with 1
// after the transfer.
Program perftest(const char* name, Argv words, const char* iterations = "20") {
    words.insert(words.end(), {"-n", iterations});
    return {name, words, words, false};
}

Program perftest_by_hand(const char* name, Argv words, const char* iterations = "20") {
    words.insert(words.end(), {"-x", "1"});
    return perftest(name, words, iterations);
}

class TracedProgram : public Trace, public testing::WithParamInterface<Program> {};

Argv words_of(const Program& program) {
    Argv words{"--"};
    words.insert(words.end(), program.server.begin(), program.server.end());
    words.emplace_back("::");
    words.insert(words.end(), program.client.begin(), program.client.end());
    if (std::ranges::none_of(program.client,
                             [](const auto& word) { return word.find("{server}") != word.npos; }))
        words.emplace_back("{server}");
    return words;
}

// Prints this program's row of the table that docs/dev/testing.md describes.
void print_row(const Program& program, const LabRun& run, const support::Traffic& traffic,
               const std::vector<support::SendQueue>& queues, std::size_t mismatches) {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    for (const auto& queue : queues) {
        posted += queue.posted;
        completed += queue.completed;
    }
    const auto joined = static_cast<double>(support::joined_packets(run)) /
                        static_cast<double>(traffic.between_queue_pairs);
    fmt::print("| {} | {} | {} | {} | {:.4g} % | {} | {} | {} |\n", program.name, traffic.packets,
               traffic.request_packets, traffic.between_queue_pairs - traffic.request_packets,
               100 * joined, posted, completed, mismatches);
}

// UCX's plugin for verbs.
bool ucx_has_verbs() {
    return std::ranges::any_of(
        std::filesystem::directory_iterator("/usr/lib"),
        [](const auto& folder) { return exists(folder.path() / "ucx/libuct_ib.so.0"); });
}

TEST_P(TracedProgram, has_a_post_for_each_packet_and_a_packet_for_each_psn) {
    const Program& program = GetParam();
    if (program.needs_ucx && !ucx_has_verbs())
        GTEST_SKIP()
            << "this host's UCX has no verbs transport (libuct_ib), as that of Debian forky";
    const LabRun run = trace(words_of(program));
    if (program.exits_with_0) {
        EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    }
    ASSERT_FALSE(run.dir.empty()) << run.outcome.all();
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
    support::expect_every_packet_joined(run);
    const auto traffic = support::traffic_of(run);
    const auto prediction = support::prediction_of(run);
    const auto mismatches = support::expect_wire_as_predicted(prediction, traffic);
    support::expect_devices_count_the_same(run, prediction, traffic, program.uncounted);
    print_row(program, run, traffic, support::expect_each_request_accounted(run), mismatches);
}

// Both CPUs are busy, so the logs arrive late. The listing waits some seconds for them, and says how
// many packets it has listed without their cause if that was not enough.
TEST_F(Trace, the_listing_of_busy_hosts_has_each_packet_after_its_post) {
    std::list<support::Process> load;
    for (int i = 0; i < 4; ++i)
        load.emplace_back(Argv{"bash", "-c", "while ((SECONDS < 60)); do :; done"});
    const LabRun run = trace(words_of(perftest("ib_write_bw", {"ib_write_bw", "--noPeak"}, "200")));
    load.clear();
    ASSERT_FALSE(run.dir.empty()) << run.outcome.all();
    const std::string finished = support::run({"build/rocecap", "timeline", run.dir}).out;
    // The line of the sums, and with it the number of packets that belong to a work request.
    const auto sums_of = [](const std::string& listing) {
        const auto at = listing.find(" packets; of ");
        return at == listing.npos ? "no sums" : listing.substr(at, listing.find('\n', at) - at);
    };
    EXPECT_EQ(sums_of(run.outcome.out), sums_of(finished));
    const auto with_cause = [](const std::string& listing) {
        std::size_t rows = 0;
        for (std::size_t at = 0; (at = listing.find("\u2190 ", at)) != listing.npos; ++at)
            ++rows;
        return rows;
    };
    const std::size_t late = with_cause(finished) - with_cause(run.outcome.out);
    EXPECT_EQ(run.outcome.out.find(std::to_string(late) +
                                   " packets are listed without their cause") != std::string::npos,
              late != 0)
        << run.outcome.out;
}

// Makes rstream's socket calls use librdmacm's rsockets.
Argv over_rsockets(Argv words) {
    for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
        const auto library = folder.path() / "rsocket/librspreload.so";
        if (std::filesystem::exists(library))
            words.insert(words.begin(), "LD_PRELOAD=" + library.string());
    }
    return words;
}

// UCX 1.13 reads from a datagram's completion whether the packet had an IPv4 header, which mlx5
// devices report. Soft-RoCE's completions do not report it, and UCX drops packets received over
// IPv4.
Program ucx_perftest(const char* name, const std::string& transport) {
    const auto words_with = [&](const Argv& server) {
        Argv words{"UCX_IB_GID_INDEX=2", "ucx_perftest"};
        words.insert(words.end(), server.begin(), server.end());
        words.insert(words.end(), {"-d", "rxe0:1", "-x", transport, "-t", "am_lat", "-n", "100",
                                   "-w", "1", "-s", "64"});
        // Debian 13's expects to be started by mpirun otherwise. The guests run this host's
        // programs.
        static const bool has_mpi =
            support::run({"ucx_perftest", "-h"}).all().find("MPI mode") != std::string::npos;
        if (has_mpi)
            words.insert(words.end(), {"-P", "0"});
        return words;
    };
    return {.name = name,
            .server = words_with({}),
            .client = words_with({"{server}"}),
            .needs_ucx = true};
}

// Two ranks, one on each host. mpirun starts the server's rank through a listener on the server.
Program mpi_ring() {
    return {
        .name = "openmpi",
        .server = {"socat", "TCP-LISTEN:7711,reuseaddr", "EXEC:bash"},
        .client =
            {"mpirun.openmpi", "--allow-run-as-root", "-np", "2", "--host",
             support::client_ip + ",{server}", "--leave-session-attached",
             // Options to start the ranks, and the interface through which they connect to mpirun.
             "--mca", "plm_rsh_agent", std::filesystem::absolute("tests/lab_scripts/rsh_agent"),
             "--mca", "oob_tcp_if_include", "eth0",
             // The transport of the messages. "rc_v" is rc_verbs, with ud_verbs to set it up.
             "--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "btl", "self", "-x",
             "UCX_TLS=rc_v,self", "-x", "UCX_NET_DEVICES=rxe0:1", "-x", "UCX_IB_GID_INDEX=2",
             "python3", "-m", "mpi4py.bench", "ringtest", "-n", "1000", "-l", "20"},
        .needs_ucx = true};
}

INSTANTIATE_TEST_SUITE_P(
    Programs, TracedProgram,
    testing::Values(
        perftest_by_hand("ib_write_bw", {"ib_write_bw", "--noPeak", "-s", "10000"}),
        perftest_by_hand("old_post_send",
                         {"ib_write_bw", "--noPeak", "-s", "10000", "--use_old_post_send"}),
        perftest_by_hand("datagrams", {"ib_send_bw", "--noPeak", "-c", "UD", "-s", "1024"}),
        perftest_by_hand("uc", {"ib_send_bw", "--noPeak", "-c", "UC", "-s", "10000"}),
        perftest_by_hand("uc_write", {"ib_write_bw", "--noPeak", "-c", "UC", "-s", "5000"}, "100"),
        perftest_by_hand("read", {"ib_read_bw", "--noPeak", "-s", "10000"}),
        perftest_by_hand("read_lat", {"ib_read_lat", "-s", "10000"}, "50"),
        perftest_by_hand("atomic", {"ib_atomic_lat"}),
        perftest_by_hand("srq", {"ib_send_bw", "--noPeak", "-s", "10000", "--use-srq", "-q", "2"}),
        perftest_by_hand("ib_write_bw_200", {"ib_write_bw", "--noPeak", "-s", "20000"}, "200"),
        perftest("rdma_cm", {"ib_write_bw", "--noPeak", "-s", "10000", "-R"}),
        Program{"rping", {"rping", "-s", "-C", "3"}, {"rping", "-c", "-C", "3", "-a"}},
        Program{"ucmatose",
                {"ucmatose", "-c", "2", "-C", "5"},
                {"ucmatose", "-c", "2", "-C", "5", "-s"}},
        Program{"qperf",
                {"qperf"},
                {"qperf", "-t", "1", "{server}", "-cm", "1", "rc_rdma_write_lat", "quit"}},
        ucx_perftest("ucx_rc_verbs", "rc_verbs"), ucx_perftest("ucx_ud_verbs", "ud_verbs"),
        mpi_ring(),
        // The ACK of the final message may arrive after the queue pair was destroyed.
        Program{"rstream",
                {"rstream", "-S", "10000", "-C", "20"},
                {"rstream", "-S", "10000", "-C", "20", "-s"},
                true,
                1},
        Program{"rstream_sockets", over_rsockets({"rstream", "-T", "s", "-S", "10000", "-C", "20"}),
                over_rsockets({"rstream", "-T", "s", "-S", "10000", "-C", "20", "-s"}), true, 1},
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

// The server's text has no line feed at its end.
TEST_F(Trace, a_server_may_print_a_prompt_before_it_listens) {
    const LabRun run = trace({"--", "sh", "-c", "printf 'ready for clients> '; exec rping -s -C 1",
                              "::", "rping", "-c", "-C", "1", "-a", "{server}"},
                             {"CAPTURE_SERVER_WAIT_SECONDS=20"});
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
}

TEST_F(Trace, says_what_is_wrong) {
    const auto says = [](const Argv& words, const std::string& sentence,
                         const Argv& settings = {}) {
        const LabRun run = trace(words, settings);
        EXPECT_NE(run.outcome.exit_code, 0);
        EXPECT_NE(run.outcome.all().find(sentence), std::string::npos) << run.outcome.all();
        EXPECT_EQ(run.outcome.all().find("the lab's process was killed"), std::string::npos);
    };
    says({"--", "true"}, "two commands are needed, with :: between them");
    says({"--after", "soon", "--", "true", "::", "true"},
         "--after takes whole seconds, not 'soon'");
    says({"--", "no-such-program", "::", "true"}, "no-such-program");
    says({"--after", "0", "--", "sleep", "20", "::", "sh", "-c", "kill -ABRT $$"},
         "client failed (exit 134, as after SIGABRT), ");
    says({"--after", "1", "--", "sleep", "20", "::", "sh", "-c", "exit 134"},
         "client failed (exit 134, as after SIGABRT), ");
    says({"--", "sleep", "30", "::", "true"},
         "--after SECONDS starts the client without this check", {"CAPTURE_SERVER_WAIT_SECONDS=2"});
}

}  // namespace trace_test
