// The arguments CAPTURE [--log FILE]...: the same results as for a run directory with these files, the
// results for a capture alone, and where the output goes.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/written_run.hpp"

namespace trace_arguments_test {

using namespace written_run;
using nlohmann::json;
using support::rocecap;

constexpr std::uint8_t write_only = 0x0a;

TEST(TraceArguments, capture_and_logs_are_what_their_run_directory_is) {
    const Written run("trace_same");
    const std::vector<support::Argv> commands{{"timeline"}, {"psns", "--json"}};
    for (const support::Argv& command : commands) {
        const auto of_run = rocecap(command + support::Argv{run.path()});
        const auto of_files = rocecap(command + support::Argv{run.wire()} + run.both_logs());
        EXPECT_EQ(of_files.exit_code, 0) << of_files.all();
        EXPECT_EQ(of_files.err, "");
        const std::regex name("\"run\":.*\"from\"");
        EXPECT_EQ(std::regex_replace(of_files.out, name, ""),
                  std::regex_replace(of_run.out, name, ""));
    }
}

TEST(TraceArguments, a_capture_alone_shows_its_packets) {
    const Written run("trace_alone");
    const auto outcome = rocecap({"timeline", run.wire()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 7) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "  192.0.2.2 → 192.0.2.1  RC RDMA WRITE First")) << outcome.out;
    EXPECT_TRUE(
        outcome.out.ends_with("\n5 packets, 5 of them RoCE, 3 on connected queue pairs; "
                              "without a run log (--log) no packet has a cause\n"))
        << outcome.out;
}

TEST(TraceArguments, one_log_is_enough_for_its_own_requests) {
    const Written run("trace_one_log");
    const auto outcome = rocecap({"timeline", run.wire(), "--log", run.log_of("client")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "← client wr 7, 1 of 2")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "of 3 on connected queue pairs, 3 belong to a work request"))
        << outcome.out;
    EXPECT_EQ(outcome.err, "");
}

TEST(TraceArguments, logs_of_the_same_role_are_named_after_their_files) {
    const Written run("trace_roles");
    const auto rename_role = [&](const std::string& from, const std::string& name) {
        std::ifstream in(run.log_of(from));
        std::ofstream out(run.path() + "/" + name);
        for (std::string line; std::getline(in, line);)
            out << line.replace(line.find(from), from.size(), "ib_write_bw") << '\n';
        return run.path() + "/" + name;
    };
    const auto outcome =
        rocecap({"timeline", run.wire(), "--log", rename_role("server", "node1.jsonl"), "--log",
                 rename_role("client", "node2.jsonl")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "node2 → node1  ")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "← node2 wr 7, 1 of 2")) << outcome.out;
}

TEST(TraceArguments, further_logs_go_with_a_run_directory) {
    const Written run("trace_further");
    const std::string log = new_log(run, "noise.jsonl",
                                    R"({"t_ns":1,"role":"client","event":"note","text":"I too"})"
                                    "\n");
    const auto outcome = rocecap({"timeline", run.path(), "--log", log});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "  noise            note      I too\n")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "← client wr 7, 1 of 2")) << outcome.out;
}

TEST(TraceArguments, a_directory_without_run_json_is_its_files) {
    const Written run("trace_bare");
    std::filesystem::remove(run.path() + "/run.json");
    const auto outcome = rocecap({"timeline", run.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "client → server  RC RDMA WRITE First")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "← client wr 7, 1 of 2")) << outcome.out;
}

// A pcap file, as tcpdump writes it, complete and cut.
TEST(TraceArguments, pcap_files_are_captures_too) {
    const Written run("trace_pcap");
    const std::string pcap = run.path() + "/wire.pcap";
    ASSERT_EQ(support::run({"tshark", "-F", "pcap", "-r", run.wire(), "-w", pcap}).exit_code, 0);
    const auto packets = [](const std::string& out) { return out.substr(0, out.find("\n\n")); };
    const auto whole = rocecap({"timeline", pcap});
    EXPECT_EQ(packets(whole.out), packets(rocecap({"timeline", run.wire()}).out));
    std::filesystem::resize_file(pcap, std::filesystem::file_size(pcap) - 3);
    const auto cut = rocecap({"timeline", pcap});
    EXPECT_EQ(cut.exit_code, 2) << cut.all();
    EXPECT_TRUE(has(cut.out, "4 packets, 4 of them RoCE")) << cut.out;
    EXPECT_TRUE(cut.out.ends_with("the capture ends inside a packet\n")) << cut.out;
}

TEST(TraceArguments, annotate_and_report_write_where_they_are_told) {
    const Written run("trace_output");
    for (const char* command : {"annotate", "report"}) {
        const auto outcome = rocecap({command, run.wire()});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, "no output file: give -o FILE")) << outcome.err;
        const auto over = rocecap({command, run.wire(), "-o", run.path() + "/./wire.pcapng"});
        EXPECT_EQ(over.exit_code, 2) << over.all();
        EXPECT_TRUE(has(over.err, "is the capture itself")) << over.err;
    }
    const std::string file = run.path() + "/out.pcapng";
    const auto annotated =
        rocecap(support::Argv{"annotate", run.wire(), "-o", file} + run.both_logs());
    EXPECT_EQ(annotated.exit_code, 0) << annotated.all();
    EXPECT_EQ(annotated.err, file + ": 5 packets, 5 with a cause\n");
    const auto comments = support::run(
        {"tshark", "-n", "-r", file, "-T", "fields", "-e", "frame.comment", "-Y", "frame.comment"});
    EXPECT_EQ(comments.out,
              "client's connection, QP 0x000012\n"
              "server's connection, QP 0x000011\n"
              "client wr 7 RDMA_WRITE 5000 B, PSN 1 of 2\n"
              "client wr 7 RDMA_WRITE 5000 B, PSN 2 of 2\n"
              "answers client wr 7 RDMA_WRITE 5000 B, PSN 2 of 2\n");
    EXPECT_TRUE(has(rocecap({"annotate", run.wire(), "-o", file}).err,
                    "0 with a cause: causes come from run logs (--log)\n"));
    const auto page = rocecap(support::Argv{"report", run.wire(), "-o", "-"} + run.both_logs());
    EXPECT_EQ(page.exit_code, 0) << page.err;
    EXPECT_TRUE(has(page.out, "<title>wire.pcapng")) << page.out.substr(0, 500);
    EXPECT_TRUE(has(page.err, "-: 5 packets, 5 events")) << page.err;
    EXPECT_EQ(rocecap({"report", run.wire(), "-o", run.path() + "/alone.html"}).exit_code, 0);
}

TEST(TraceArguments, psns_reads_the_connection_manager_s_messages) {
    const Written run("trace_psns");
    EXPECT_EQ(rocecap({"psns", run.wire()}).out,
              "run          direction              first PSN  chosen by               readable in\n"
              "wire.pcapng  192.0.2.2 → 192.0.2.1  0x0deeed   the connection manager  ConnectReply "
              "(frame 2), BTH of 1 packet\n"
              "wire.pcapng  192.0.2.1 → 192.0.2.2  0x54b40d   the connection manager  "
              "ConnectRequest (frame 1)\n");
    std::istringstream lines(rocecap({"psns", run.wire(), "--json"}).out);
    std::string line;
    std::getline(lines, line);
    const json first = json::parse(line);
    EXPECT_EQ(first["qpn"], 0x12);
    EXPECT_EQ(first["dest_qpn"], 0x11);
    EXPECT_EQ(first["step"], nullptr);
}

TEST(TraceArguments, psns_without_log_and_connection_manager_are_the_first_ones_seen) {
    SyntheticRun run("trace_psns_seen");
    run.packet(write_only, 0x000100);
    run.packet(acknowledge, 0x000100, true);
    run.packet(write_last, 0x000300, true);
    run.keep_capture();
    EXPECT_EQ(rocecap({"psns", run.path() + "/wire.pcapng"}).out,
              "run          direction                              first PSN           chosen by   "
              "        readable in\n"
              "wire.pcapng  192.0.2.2 → 192.0.2.1, to QP 0x000011  0x000100            not in the "
              "capture  BTH of 1 packet only (frame 1)\n"
              "wire.pcapng  192.0.2.1 → 192.0.2.2, to QP 0x000012  not in the capture  not in the "
              "capture  nowhere in the capture\n");
}

TEST(TraceArguments, predict_names_hosts_by_the_logs) {
    const Written run("trace_predict");
    const std::string command =
        "printf 'write +0\\n' | '" + support::rocecap() + "' predict '" + run.wire() + "'";
    const auto alone = support::run({"bash", "-c", command});
    EXPECT_EQ(alone.exit_code, 0) << alone.all();
    EXPECT_TRUE(has(alone.out, "192.0.2.2 sends the next packet.")) << alone.out;
    const auto named = support::run(
        {"bash", "-c",
         command + " --log '" + run.log_of("client") + "' --log '" + run.log_of("server") + "'"});
    EXPECT_TRUE(has(named.out, "The client sends the next packet.")) << named.all();
}

}  // namespace trace_arguments_test
