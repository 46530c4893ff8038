// rocecap's command line: rejected arguments with their error messages, and the help texts. No test
// captures packets.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace options_test {

using support::Argv;
using support::rocecap;

support::Outcome rocecap_with(Argv arguments) {
    arguments.insert(arguments.begin(), rocecap());
    return support::run(arguments);
}

void expect_refused(const Argv& arguments, const std::string& sentence) {
    const auto outcome = rocecap_with(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(
        outcome.err,
        "rocecap: " + sentence +
            "\n'rocecap --help' lists the commands, and 'rocecap COMMAND --help' its options.\n");
}

// CLI11 writes ranges as "1 to 9" or, from version 2.4 on, "[1 - 9]".
void expect_out_of_range(const Argv& arguments, const std::string& value, const std::string& least,
                         const std::string& most) {
    const auto outcome = rocecap_with(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    const std::string begin = "rocecap: " + value + " not in range ";
    const std::string end =
        ".\n'rocecap --help' lists the commands, and 'rocecap COMMAND --help' its options.\n";
    EXPECT_TRUE(outcome.err == begin + least + " to " + most + end ||
                outcome.err == begin + "[" + least + " - " + most + "]" + end)
        << outcome.err;
}

TEST(Options, a_count_is_a_whole_number_from_1_up) {
    for (const std::string count : {"0", "-1", "1e3", "nan", "x", "99999999999999999999"}) {
        const auto sentence = "--count: '" + count + "' is not a whole number of 1 or more.";
        expect_refused({"decode", "file", "-c", count}, sentence);
        expect_refused({"live", "-i", "lo", "-c", count}, sentence);
    }
}

TEST(Options, a_duration_is_a_number_of_seconds) {
    for (const std::string seconds : {"nan", "inf", "-1", "1s", ""})
        expect_refused(
            {"live", "-i", "lo", "-d", seconds},
            "--duration: '" + seconds + "' is not a number of seconds from 0 to 100000000.");
}

TEST(Options, a_snap_length_and_a_buffer_have_limits) {
    expect_out_of_range({"live", "-i", "lo", "-s", "0"}, "--snaplen: Value 0", "1", "262144");
    expect_out_of_range({"live", "-i", "lo", "-s", "262145"}, "--snaplen: Value 262145", "1",
                        "262144");
    expect_out_of_range({"live", "-i", "lo", "-B", "2000"}, "--buffer: Value 2000", "1", "1024");
}

TEST(Options, several_files_need_a_name_and_a_limit) {
    const std::string needs_name =
        "--rotate-size and --rotate-seconds need a file name, as in --write run.pcapng.";
    expect_refused({"live", "-i", "lo", "--rotate-size", "1"}, needs_name);
    expect_refused({"live", "-i", "lo", "--rotate-seconds", "1", "-w", "-"}, needs_name);
    expect_refused({"live", "-i", "lo", "--keep", "1", "-w", "x"},
                   "--keep needs --rotate-size or --rotate-seconds.");
    expect_out_of_range({"live", "-i", "lo", "--rotate-seconds", "0", "-w", "x"},
                        "--rotate-seconds: Value 0", "1", "1000000");
    expect_refused({"live", "-i", "lo", "--rotate-size", "1", "-w", "x", "--keep", "0"},
                   "--keep: '0' is not a whole number of 1 or more.");
}

TEST(Options, what_is_missing_or_too_much_is_named) {
    expect_refused({}, "A subcommand is required.");
    expect_refused({"live"}, "--interface (or --list) is required.");
    expect_refused({"decode"}, "file is required.");
    expect_refused({"timeline"}, "capture is required.");
    expect_refused({"decode", "one", "two"}, "the argument 'two' is not expected.");
    expect_refused({"--color", "mauve", "decode", "x"},
                   "--color: mauve not in {auto,always,never}.");
}

TEST(Options, help_lists_every_option_and_exits_with_0) {
    const auto lists = [](const Argv& command, const std::vector<std::string>& texts) {
        Argv arguments = command;
        arguments.emplace_back("--help");
        const auto outcome = rocecap_with(arguments);
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_EQ(outcome.err, "");
        for (const auto& text : texts)
            EXPECT_NE(outcome.out.find(text), std::string::npos) << text << " in\n" << outcome.out;
    };
    lists({}, {"live", "decode", "timeline", "--color", "--version", "Exit status: 0"});
    lists({"live"}, {"--interface", "--list", "--rotate-size", "--rotate-seconds", "--keep",
                     "--filter", "--write", "--duration", "--count", "--json", "--quiet",
                     "--snaplen", "--buffer", "--promiscuous"});
    lists({"decode"}, {"--json", "--count", "standard input"});
    lists({"timeline"}, {"--follow", "--perfetto", "CAPTURE|RUN_DIR", "--log"});
    lists({"annotate"}, {"--follow", "--runs", "CAPTURE|RUN_DIR", "--log", "--output"});
}

TEST(Options, the_version_names_libpcaps) {
    const auto outcome = rocecap_with({"--version"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out.rfind("rocecap ", 0), 0U);
    EXPECT_NE(outcome.out.find("libpcap version 1"), std::string::npos) << outcome.out;
}

TEST(StandardDescriptors, closed_ones_are_errors_and_nothing_else_takes_their_place) {
    const support::TempPath capture("descriptors.pcap");
    std::ofstream(capture.str()) << "not a capture";
    const auto says = [](const std::string& command, const std::string& sentence) {
        const auto outcome = support::run({"bash", "-c", rocecap() + " " + command});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(outcome.err, sentence);
    };
    says("decode - <&-", "rocecap: standard input is closed: give a pcap or pcapng capture.\n");
    says("decode " + capture.str() + " 2>&-", "");
    says("decode " + capture.str() + " >&-",
         "rocecap: cannot read '" + capture.str() +
             "': it is not a pcap or pcapng capture (unknown file format); 'editcap', a part of "
             "Wireshark, converts other formats.\n");
}

}  // namespace options_test
