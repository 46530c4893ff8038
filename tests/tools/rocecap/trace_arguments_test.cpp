// The arguments CAPTURE [--log FILE]...: the same results as for a run directory with these files,
// the results for a capture alone, and rejected arguments.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"

namespace trace_arguments_test {

using nlohmann::json;
using rocecap_test::SyntheticRun;
using support::rocecap;

constexpr std::uint8_t write_first = 0x06;
constexpr std::uint8_t write_last = 0x08;
constexpr std::uint8_t write_only = 0x0a;
constexpr std::uint8_t acknowledge = 0x11;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A run with a connection of rdma_cm and a WRITE of two packets.
class Written : public SyntheticRun {
  public:
    explicit Written(const std::string& name) : SyntheticRun(name) {
        log_states(0x54b40du, 0x0deeedu);
        log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", 7u},
             {"opcode", "RDMA_WRITE"},
             {"len", 5000u},
             {"psn_first", 0x0deeedu},
             {"psn_last", 0x0deeeeu}});
        cm_message(wire::CmAttribute::ConnectRequest,
                   wire_test::CmData()
                       .put(0, "00000077")
                       .put(32, "000012")
                       .put(43, "00")
                       .put(44, "54b40d"),
                   false);
        cm_message(wire::CmAttribute::ConnectReply,
                   wire_test::CmData().put(4, "00000077").put(12, "000011").put(20, "0deeed"),
                   true);
        packet(write_first, 0x0deeed);
        packet(write_last, 0x0deeee);
        packet(acknowledge, 0x0deeee, true);
        keep_capture();
    }

    std::string wire() const { return path() + "/wire.pcapng"; }
    std::string log_of(const std::string& role) const { return path() + "/" + role + ".jsonl"; }
    support::Argv both_logs() const {
        return {"--log", log_of("server"), "--log", log_of("client")};
    }
};

support::Argv operator+(support::Argv argv, const support::Argv& more) {
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
}

std::string new_log(const SyntheticRun& run, const std::string& name, const std::string& text) {
    std::string path = run.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
}

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

const std::vector<support::Argv> readers_of_runs{
    {"timeline"}, {"annotate", "-o", "-"}, {"report", "-o", "-"}, {"psns"}, {"explain"}, {"check"},
    {"predict"}};

TEST(TraceArguments, a_broken_run_json_is_the_same_sentence_in_each_command) {
    const Written run("trace_broken");
    for (const char* text : {"{", "[]", "1e999"}) {
        std::ofstream(run.path() + "/run.json") << text;
        for (const support::Argv& command : readers_of_runs) {
            const auto outcome = rocecap(command + support::Argv{run.path()});
            EXPECT_EQ(outcome.exit_code, 2) << command[0];
            EXPECT_EQ(outcome.out, "") << command[0];
            EXPECT_EQ(outcome.err, "rocecap: " + run.path() + "/run.json is not readable JSON.\n");
        }
    }
}

TEST(TraceArguments, a_run_json_whose_values_have_other_types_has_no_values) {
    const Written run("trace_types");
    for (const char* text :
         {R"({"ended":1,"step":{},"hosts":[],"clock":[],"link":7,"capture":"x"})",
          R"({"ended":1,"hosts":{"server":{"address":1,"port":"a","device":{},"counters":[3]},
              "client":[],"client2":null},"clock":{"server":{"offset_s":"0"}}})"}) {
        std::ofstream(run.path() + "/run.json") << text;
        for (const support::Argv& command : readers_of_runs) {
            const auto outcome = rocecap(command + support::Argv{run.path()});
            EXPECT_NE(outcome.exit_code, 2) << command[0] << ": " << outcome.err;
            EXPECT_EQ(outcome.err.find("json"), std::string::npos) << outcome.err;
        }
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

TEST(TraceArguments, a_log_s_role_cannot_drive_the_terminal) {
    const Written run("trace_escape");
    const std::string log = new_log(run, "x.jsonl",
                                    R"({"t_ns":1,"role":"a\u001b[31mb","event":"note","text":"c"})"
                                    "\n");
    const auto outcome = rocecap({"timeline", run.wire(), "--log", log});
    EXPECT_TRUE(has(outcome.out, "a\\x1b[31mb")) << outcome.out;
    EXPECT_FALSE(has(outcome.out, "\x1b"));
}

TEST(TraceArguments, fields_and_events_of_other_programs_are_passed_over) {
    const Written run("trace_unknown");
    std::ofstream(run.log_of("client"), std::ios::app)
        << R"({"t_ns":2,"role":"client","event":"strange","pid":7,"tid":8,"list":[1,{"a":2}]})"
        << '\n';
    const auto outcome = rocecap(support::Argv{"timeline", run.wire()} + run.both_logs());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "strange    pid=7 tid=8\n")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "← client wr 7")) << outcome.out;
}

TEST(TraceArguments, what_has_no_roce_is_said_in_a_sentence) {
    SyntheticRun run("trace_tcp");
    run.tcp({});
    run.keep_capture();
    const std::string wire = run.path() + "/wire.pcapng";
    for (const support::Argv& command : {support::Argv{"timeline", wire},
                                         {"psns", wire},
                                         {"report", wire, "-o", "-"},
                                         {"annotate", wire, "-o", "-"},
                                         {"predict", wire}}) {
        const auto outcome = rocecap(command);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, "has no RoCE packet: none of its 1 packets has UDP port 4791"))
            << outcome.all();
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
    const auto with_log = rocecap({"timeline", wire, "--log", run.path() + "/client.jsonl"});
    EXPECT_EQ(with_log.exit_code, 0) << with_log.all();
    EXPECT_TRUE(has(with_log.err, "has no RoCE packet")) << with_log.err;
    EXPECT_TRUE(has(with_log.out, "client           device")) << with_log.out;
}

TEST(TraceArguments, what_is_no_capture_or_no_log_is_named) {
    const Written run("trace_wrong");
    const auto says = [](const support::Argv& arguments, const std::string& text) {
        const auto outcome = rocecap(arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, text)) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    };
    says({"timeline", run.log_of("client")}, "it is not a pcap or pcapng capture");
    says({"timeline", "/nowhere.pcap"}, "cannot open '/nowhere.pcap': No such file or directory.");
    says({"timeline", run.wire(), "--log", "/nowhere.jsonl"},
         "cannot open '/nowhere.jsonl': No such file or directory.");
    const std::string other = new_log(run, "notes.txt", "hello\n{\"a\":1}\n");
    says({"timeline", run.wire(), "--log", other}, "'" + other + "' is not a run log: ");
    says({"psns", run.wire(), "--log", run.wire()}, "is not a run log: ");
    says({"timeline", "-"}, "'-' is not a regular file: a capture is read several times");
    says({"psns", run.wire(), run.path(), "--log", run.log_of("client")},
         "--log needs a single capture");
    says({"timeline", "--follow", run.wire()}, "is not a run directory: --follow needs");
}

TEST(TraceArguments, an_empty_log_and_one_of_another_run_are_warnings) {
    const Written run("trace_warnings");
    const std::string empty = new_log(run, "empty.jsonl", "");
    const Written other("trace_other");
    const std::string foreign = new_log(
        run, "foreign.jsonl",
        R"({"t_ns":1,"role":"other","event":"device","gid":"::ffff:192.0.2.2"})"
        "\n"
        R"({"t_ns":2,"role":"other","event":"qp_state","qpn":18,"state":"RTS","dest_qpn":17})"
        "\n"
        R"({"t_ns":3,"role":"other","event":"post_send","qpn":18,"wr_id":1,"psn_first":5,"psn_last":5})"
        "\n");
    const auto outcome = rocecap(
        support::Argv{"timeline", run.wire(), "--log", empty, "--log", foreign} + run.both_logs());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.err, "'" + empty + "' is empty.\n")) << outcome.err;
    EXPECT_TRUE(has(outcome.err,
                    "rocecap: the capture has no packet of other's queue pairs: is "
                    "its log from another run?\n"))
        << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "← client wr 7, 1 of 2")) << outcome.out;
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

// A file and a run's directory; output goes to files where the command has no other.
TEST(TraceArguments, a_cut_capture_has_results_and_status_2_with_every_command) {
    const Written run("trace_cut");
    std::filesystem::resize_file(run.wire(), std::filesystem::file_size(run.wire()) - 3);
    for (const std::string& path : {run.wire(), run.path()})
        for (const support::Argv& arguments : {support::Argv{"decode"},
                                               {"flows"},
                                               {"verify"},
                                               {"check"},
                                               {"explain"},
                                               {"timeline"},
                                               {"psns"},
                                               {"predict"},
                                               {"annotate", "-o", "-"},
                                               {"report", "-o", "-"}}) {
            support::Argv argv = arguments;
            argv.insert(argv.begin() + 1, path);
            const auto outcome = rocecap(argv);
            EXPECT_EQ(outcome.exit_code, 2) << arguments.front() << '\n' << outcome.err;
            EXPECT_GT(outcome.out.size(), 20U) << arguments.front();
            EXPECT_TRUE(
                has(outcome.err, run.wire() + "' ends inside the block that begins at byte"))
                << arguments.front() << '\n'
                << outcome.err;
        }
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
