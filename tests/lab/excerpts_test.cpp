// The documents show what the programs print: each excerpt is compared with the output of a new
// run. All numbers are masked.
//
// An excerpt is a code block after a comment that gives its source:
//   <!-- from: COMMAND -->                a shell command, run in the root of the repository
//   <!-- from: FILE of lesson NN -->      a file in a run's directory
//   <!-- from: COMMAND of lessons NN… -->   the command, followed by the directories of these runs
// A source may end with ", if CONDITION", a shell command. If it fails, for example on another
// kernel, the excerpt is not compared.
// Each line of an excerpt must be in the real output. A line that ends with "…" must be the
// beginning of a real line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace excerpts_test {

namespace fs = std::filesystem;

struct Excerpt {
    std::string source;
    std::vector<std::string> lines;
};

std::vector<std::string> lines_of(std::istream& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

std::vector<Excerpt> excerpts_of(const fs::path& document) {
    std::ifstream file(document);
    std::vector<Excerpt> excerpts;
    std::string source;
    bool inside = false;
    for (const std::string& line : lines_of(file)) {
        std::smatch match;
        if (std::regex_match(line, match, std::regex("<!-- from: (.*) -->"))) {
            source = match[1];
        } else if (line.starts_with("```")) {
            inside = !inside && !source.empty();
            if (inside)
                excerpts.push_back({source, {}});
            source.clear();
        } else if (inside) {
            excerpts.back().lines.push_back(line);
        }
    }
    return excerpts;
}

// Replaces each number and its sign with '#' and each run of spaces with one space, and removes
// leading spaces: the width of numbers changes the alignment of columns. Removes the duration of a
// call, which a line has only from 10 ms on.
std::string masked(const std::string& line) {
    static const std::regex duration("  took [0-9]+ ms");
    static const std::regex number("0x[0-9a-f]*|[-+]?[0-9]+");
    static const std::regex spaces(" +");
    std::string text = std::regex_replace(line, duration, "");
    text = std::regex_replace(std::regex_replace(text, number, "#"), spaces, " ");
    return text.starts_with(' ') ? text.substr(1) : text;
}

const support::LabRun& run_of(const std::string& step) {
    const support::LabRun& run = support::plain_run(step);
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    return run;
}

std::string output_of(const std::string& command) {
    // On a busy machine, a run with packet loss takes long.
    return support::run({"bash", "-c", command + " 2>&1"}, {}, std::chrono::minutes(5)).out;
}

std::string text_from(const std::string& source) {
    std::smatch match;
    if (std::regex_match(source, match, std::regex("([a-z.]+) of lesson ([0-9]+)")))
        return run_of(match[2]).text_of(match[1]);
    if (!std::regex_match(source, match, std::regex("(.*) of lessons((?: [0-9]+)+)")))
        return output_of(source);
    std::string command = match[1];
    std::istringstream steps(match[2]);
    for (std::string step; steps >> step;)
        command += " " + run_of(step).dir;
    return output_of(command);
}

// Returns whether the excerpt can be compared on this machine. Removes the condition from its
// source.
bool applies(std::string& source) {
    std::smatch match;
    if (!std::regex_match(source, match, std::regex("(.*), if (.*)")))
        return true;
    const std::string condition = match[2];
    source = std::string(match[1]);
    return support::run({"bash", "-c", condition}, {}, std::chrono::minutes(1)).exit_code == 0;
}

std::vector<std::string> documents() {
    std::vector<std::string> found{"README.md"};
    for (const char* folder : {"docs", "examples", "lab", "captures", "wireshark"})
        if (fs::exists(folder))
            for (const auto& entry : fs::recursive_directory_iterator(folder))
                if (entry.path().extension() == ".md")
                    found.push_back(entry.path().string());
    std::ranges::sort(found);
    return found;
}

class Excerpts : public testing::TestWithParam<std::string> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_P(Excerpts, are_what_the_programs_print) {
    for (Excerpt& excerpt : excerpts_of(GetParam())) {
        if (!applies(excerpt.source))
            continue;
        std::istringstream text(text_from(excerpt.source));
        std::set<std::string> real;
        for (const std::string& line : lines_of(text))
            real.insert(masked(line));
        EXPECT_FALSE(excerpt.lines.empty()) << excerpt.source;
        for (const std::string& line : excerpt.lines) {
            constexpr std::string_view more = "…";
            std::string wanted = line;
            const bool is_cut = wanted.ends_with(more);
            if (is_cut)
                wanted.resize(wanted.size() - more.size());
            wanted = masked(wanted);
            const bool found =
                is_cut ? std::ranges::any_of(
                             real, [&](const auto& all) { return all.starts_with(wanted); })
                       : real.contains(wanted);
            EXPECT_TRUE(found) << "not printed by " << excerpt.source << ":\n"
                               << line << "\nthe real text is\n"
                               << text.str();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Documents, Excerpts, testing::ValuesIn(documents()), [](const auto& test) {
    std::string name = test.param;
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace excerpts_test
