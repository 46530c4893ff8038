// The manual page and the completion know what the program knows.
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

const std::vector<std::string> commands{"live",     "decode",   "flows",   "verify",
                                        "fields",   "timeline", "predict", "psns",
                                        "annotate", "report",   "check"};

Words matches(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    Words words;
    for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
        words.insert((*match)[1]);
    return words;
}

std::string help(const support::Argv& arguments) {
    support::Argv argv{support::rocecap()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.emplace_back("--help");
    return support::run(argv).out;
}

// Options stand at the beginning of a line of the help text; examples name those of others. Before a
// long one there is its short one, or in later versions of CLI11 room for that.
Words options(const support::Argv& arguments) {
    return matches(help(arguments), "(?:^|\n) {2,10}(?:-., *)?(--[a-z-]+)");
}

std::string manual() {
    std::ifstream file("docs/rocecap.1");
    std::stringstream text;
    text << file.rdbuf();
    return std::regex_replace(text.str(), std::regex("\\\\-"), "-");
}

TEST(Manual, has_every_command_and_option_and_no_other) {
    Words known = options({});
    for (const std::string& command : commands) {
        known.merge(options({command}));
        EXPECT_NE(manual().find(".B rocecap " + command + "\n"), std::string::npos) << command;
    }
    EXPECT_GT(known.size(), 15U);
    EXPECT_EQ(
        matches(manual(), "\n\\.TP\n\\.(?:B|BI|BR) (?:-., \", \" )?(?:-. \", \" )?(--[a-z-]+)"),
        known);
}

TEST(Manual, lists_the_commands_that_the_program_has) {
    const Words listed = matches(help({}), "\n  ([a-z]+) {3}");
    EXPECT_EQ(listed, Words(commands.begin(), commands.end()));
}

TEST(Manual, is_well_formed) {
    const auto outcome = support::run({"groff", "-man", "-ww", "-z", "-Tutf8", "docs/rocecap.1"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
}

// What bash offers behind these words; the last one is being typed.
Words completions(const std::vector<std::string>& words) {
    std::string array;
    for (const std::string& word : words)
        array += " '" + word + "'";
    const std::string directory =
        std::filesystem::absolute(support::rocecap()).parent_path().string();
    const auto outcome = support::run(
        {"bash", "-c",
         "PATH=" + directory +
             ":$PATH; compopt() { :; }; . src/rocecap/completion.bash; COMP_WORDS=(rocecap" +
             array + "); COMP_CWORD=" + std::to_string(words.size()) +
             "; _rocecap; printf '%s\\n' \"${COMPREPLY[@]}\""});
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

}  // namespace manual_test
