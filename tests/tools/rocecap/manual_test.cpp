// The manual pages and completions contain the options and commands of the programs.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace manual_test {

using Words = std::set<std::string>;

const std::vector<std::string> commands{"live",     "decode",   "explain", "flows",    "verify",
                                        "fields",   "timeline", "predict", "simulate", "psns",
                                        "annotate", "report",   "check",   "anonymize"};

Words matches(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    Words words;
    for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
        words.insert((*match)[1]);
    return words;
}

std::string help(const support::Argv& arguments, const std::string& program = "rocecap") {
    support::Argv argv{(support::build_dir() / program).string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.emplace_back("--help");
    return support::run(argv).out;
}

// Options are at the beginning of a line of the help text; elsewhere, examples may contain options
// of other commands. Before a long option is its short form or, in later versions of CLI11, space
// for it.
Words options(const support::Argv& arguments, const std::string& program = "rocecap") {
    return matches(help(arguments, program), "(?:^|\n) {2,10}(?:-., *)?(--[a-z-]+)");
}

std::string manual(const std::string& program = "rocecap") {
    std::ifstream file("docs/" + program + ".1");
    std::stringstream text;
    text << file.rdbuf();
    return std::regex_replace(text.str(), std::regex("\\\\-"), "-");
}

Words options_in_manual(const std::string& program = "rocecap") {
    return matches(manual(program),
                   "\n\\.TP\n\\.(?:B|BI|BR) (?:-., \" \" )?(?:-. \", \" )?(--[a-z-]+)");
}

TEST(Manual, of_rocetrace_has_every_option_and_no_other) {
    const Words known = options({}, "rocetrace");
    EXPECT_GT(known.size(), 5U);
    EXPECT_EQ(options_in_manual("rocetrace"), known);
}

TEST(Manual, of_rocewire_has_every_command_and_option_and_no_other) {
    Words known = options({}, "rocewire");
    const Words listed = matches(help({}, "rocewire"), "\n  ([a-z]+) {3}");
    EXPECT_GT(listed.size(), 5U);
    for (const std::string& command : listed) {
        known.merge(options({command}, "rocewire"));
        EXPECT_TRUE(
            std::regex_search(manual("rocewire"), std::regex("\n\\.BR? " + command + "[ \n]")))
            << command;
    }
    EXPECT_EQ(options_in_manual("rocewire"), known);
}

TEST(Manual, has_every_command_and_option_and_no_other) {
    Words known = options({});
    for (const std::string& command : commands) {
        known.merge(options({command}));
        EXPECT_NE(manual().find(".B rocecap " + command + "\n"), std::string::npos) << command;
    }
    EXPECT_GT(known.size(), 15U);
    EXPECT_EQ(options_in_manual(), known);
}

TEST(Manual, lists_the_commands_that_the_program_has) {
    const Words listed = matches(help({}), "\n  ([a-z]+) {3}");
    EXPECT_EQ(listed, Words(commands.begin(), commands.end()));
}

TEST(Manual, is_well_formed) {
    for (const char* page : {"docs/rocecap.1", "docs/rocetrace.1", "docs/rocewire.1"}) {
        const auto outcome = support::run({"groff", "-man", "-ww", "-z", "-Tutf8", page});
        EXPECT_EQ(outcome.exit_code, 0);
        EXPECT_EQ(outcome.err, "");
    }
}

// Returns bash's completions of the last word, after the other words.
Words completions(const std::vector<std::string>& words, const std::string& program = "rocecap") {
    std::string array;
    for (const std::string& word : words)
        array += " '" + word + "'";
    const std::string directory =
        std::filesystem::absolute(support::rocecap()).parent_path().string();
    const auto outcome =
        support::run({"bash", "-c",
                      "PATH=" + directory + ":$PATH; compopt() { :; }; . src/tools/" + program +
                          "/completion.bash; COMP_WORDS=(" + program + array +
                          "); COMP_CWORD=" + std::to_string(words.size()) + "; _" + program +
                          "; printf '%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_EQ(outcome.err, "");
    return matches(outcome.out, "([^\n]+)\n");
}

TEST(Completion, offers_commands) {
    const Words offered = completions({""});
    for (const std::string& command : commands)
        EXPECT_TRUE(offered.contains(command)) << command;
    EXPECT_EQ(completions({"de"}), Words{"decode"});
    EXPECT_EQ(completions({"--color", "never", "ver"}), Words{"verify"});
}

TEST(Completion, offers_each_command_s_options) {
    for (const std::string& command : commands) {
        const Words offered = completions({command, "--"});
        for (const std::string& option : options({command}))
            EXPECT_TRUE(offered.contains(option)) << command << " " << option;
    }
    EXPECT_EQ(completions({"flows", "--run"}), Words{"--run-log"});
    EXPECT_EQ(completions({"timeline", "--lo"}), Words{"--log"});
}

TEST(Completion, offers_values) {
    EXPECT_EQ(completions({"--color", "a"}), (Words{"auto", "always"}));
    EXPECT_TRUE(completions({"live", "-i", ""}).contains("lo"));
    EXPECT_EQ(completions({"decode", "x", "--fields", "frame,bth.ps"}), Words{"frame,bth.psn"});
    EXPECT_EQ(completions({"flows", "x", "--where", "not aeth.ms"}), Words{"not aeth.msn"});
}

TEST(Completion, offers_captures_and_directories) {
    const support::TempPath temporary("completion");
    const std::filesystem::path folder = temporary.str();
    std::filesystem::create_directories(folder / "sub");
    for (const char* name : {"a.pcap", "b.pcapng", "c.txt"})
        std::ofstream(folder / name) << "";
    const std::string prefix = folder.string() + "/";
    for (const char* command : {"decode", "timeline", "report", "annotate", "psns", "predict"})
        EXPECT_EQ(completions({command, prefix}),
                  (Words{prefix + "a.pcap", prefix + "b.pcapng", prefix + "sub"}))
            << command;
}

TEST(Completion, of_rocetrace_offers_options_categories_programs_and_logs) {
    const Words offered = completions({"--"}, "rocetrace");
    for (const std::string& option : options({}, "rocetrace"))
        EXPECT_TRUE(offered.contains(option)) << option;
    EXPECT_EQ(completions({"--mask"}, "rocetrace"), Words{"--mask-psn"});
    EXPECT_EQ(completions({"-o", "x", "--only", "s"}, "rocetrace"), (Words{"send", "srq"}));
    EXPECT_TRUE(completions({"--summary", "tru"}, "rocetrace").contains("true"));
    const support::TempPath temporary("completion_rocetrace");
    const std::filesystem::path folder = temporary.str();
    std::filesystem::create_directories(folder);
    for (const char* name : {"a.jsonl", "b.log"})
        std::ofstream(folder / name) << "";
    EXPECT_EQ(completions({"--summary", folder.string() + "/"}, "rocetrace"),
              Words{folder.string() + "/a.jsonl"});
}

TEST(Completion, of_rocewire_offers_commands_and_options) {
    EXPECT_EQ(completions({"re"}, "rocewire"), (Words{"record", "remove", "restart"}));
    EXPECT_EQ(completions({"-c", "x", "status", "--w"}, "rocewire"), Words{"--watch"});
    EXPECT_EQ(completions({"--con"}, "rocewire"), Words{"--control"});
}

}  // namespace manual_test
