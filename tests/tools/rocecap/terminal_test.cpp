// The output of rocecap and rocewire never contains terminal control sequences from a log, a file
// name or an argument. Run logs come from other machines.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"
#include "util/printable.hpp"

namespace terminal_test {

using rocecap_test::SyntheticRun;
using support::Argv;
using support::rocecap;

constexpr const char* hostile = "a\x1b]0;owned\x07\x08\u009b2J\u202eb\r\n 0.0  forged\x1b[8m";
constexpr const char* shown = R"(a\x1b]0;owned\x07\x08\u009b2J\u202eb\r\n 0.0  forged\x1b[8m)";

// Expects that the output has no control characters except the colours of rocecap.
void expect_harmless(const support::Outcome& outcome) {
    for (const std::string& text : {outcome.out, outcome.err}) {
        EXPECT_EQ(text, util::printable_lines(text));
        EXPECT_EQ(text.find("\x1b[8m"), std::string::npos) << text;
        EXPECT_EQ(text.find("\n 0.0  forged"), std::string::npos) << text;
    }
}

// A run in which all data from remote machines contain hostile text.
class HostileRun : public SyntheticRun {
  public:
    HostileRun() : SyntheticRun("terminal") {
        std::ofstream(path() + "/run.json")
            << R"({"step":"\u001b[2J\u202e\n","ended":"now","hosts":{"server":{"address":"192.0.2.1"},)"
            << R"("client":{"address":"192.0.2.2"},"\u001b[2J":{"address":"192.0.2.3"}}})";
        for (const char* event : {"note", hostile})
            log("server", event, {{"text", hostile}, {hostile, hostile}});
        log_states(0x54b40du, 0x0deeedu);
        log("client", "psn", {{"qpn", 0x12u}, {"psn", 0x0deeedu}, {"source", hostile}});
        log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", 7u},
             {"opcode", hostile},
             {"len", 64u},
             {"psn_first", 0x0deeedu},
             {"psn_last", 0x0deeedu}});
        log("client", "wc", {{"qpn", 0x12u}, {"wr_id", 7u}, {"status", hostile}});
        log("link", "drop",
            {{"rule", 1u},
             {"text", hostile},
             {"from", hostile},
             {"to", "server"},
             {"frame", 1u},
             {"opcode_name", "RC RDMA WRITE Only"},
             {"dest_qpn", 0x11u},
             {"psn", 0x0deeedu}});
        constexpr std::uint8_t write_only = 0x0a;
        packet(write_only, 0x0deeed);
        packet(write_only, 0x0deeee);
        keep_capture();
    }
};

TEST(Terminal, the_timeline_shows_what_a_log_holds_without_obeying_it) {
    const HostileRun run;
    for (const std::string colour : {"always", "never"}) {
        const auto outcome = rocecap({"--color", colour, "timeline", run.path()});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        expect_harmless(outcome);
        EXPECT_NE(outcome.out.find(std::string("note      ") + shown), std::string::npos)
            << outcome.out;
        EXPECT_NE(outcome.out.find(std::string("wr 7 ") + shown + " 64 B"), std::string::npos)
            << outcome.out;
        EXPECT_EQ(outcome.out.find('\x1b') != std::string::npos, colour == "always");
    }
}

TEST(Terminal, no_other_command_obeys_a_log) {
    const HostileRun run;
    for (const Argv& arguments : {Argv{"psns", run.path()},
                                  {"psns", "--json", run.path()},
                                  {"predict", run.path()},
                                  {"annotate", run.path()},
                                  {"report", run.path()},
                                  {"check", run.path()}}) {
        const auto outcome = rocecap(arguments);
        EXPECT_NE(outcome.out + outcome.err, "") << arguments.front();
        expect_harmless(outcome);
    }
}

TEST(Terminal, an_error_quotes_a_name_without_obeying_it) {
    for (const Argv& arguments : {Argv{"decode", hostile},
                                  {"timeline", hostile},
                                  {"flows", "--run-log", hostile, hostile},
                                  {"live", "-i", hostile},
                                  {"decode", "-", "--where", hostile},
                                  {"decode", "-", "--fields", hostile},
                                  {hostile},
                                  {"decode", "-", "-c", hostile}}) {
        const auto outcome = rocecap(arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        expect_harmless(outcome);
    }
    const auto outcome = rocecap({"decode", "\x1b[2J\xff"});
    EXPECT_EQ(outcome.err.rfind(R"(rocecap: cannot open '\x1b[2J\xff': )", 0), 0U) << outcome.err;
}

TEST(Terminal, rocewire_quotes_a_rule_without_obeying_it) {
    const std::string rocewire = (support::build_dir() / "rocewire").string();
    for (const Argv& arguments : {Argv{"run", "-p", "server=/nonexistent", hostile},
                                  {"run", "-p", hostile},
                                  {hostile},
                                  {"-c", hostile, "status"}}) {
        Argv argv{rocewire};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto outcome = support::run(argv);
        EXPECT_NE(outcome.exit_code, 0) << outcome.all();
        expect_harmless(outcome);
    }
}

}  // namespace terminal_test
