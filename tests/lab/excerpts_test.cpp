// The documents show what the programs print: each excerpt is compared with the output of a new
// run. All numbers are masked. support/excerpts.hpp explains the form of an excerpt.
// Each line of an excerpt must be in the real output. A line that ends with "…" must be the
// beginning of a real line.
#include "support/excerpts.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace excerpts_test {

std::vector<std::string> lines_of(std::istream& text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

// Replaces each number and its sign with '#' and each run of spaces with one space, and removes
// leading spaces: the width of numbers changes the alignment of columns. Removes the duration of a
// call, which a line has only from 10 ms on, and the 's' of what is counted: a busy machine may send
// a packet twice.
std::string masked(const std::string& line) {
    static const std::regex duration("  took [0-9]+ ms");
    static const std::regex number("0x[0-9a-f]*|[-+]?[0-9]+");
    static const std::regex spaces(" +");
    static const std::regex counted("(# [a-z]+)s\\b");
    std::string text = std::regex_replace(line, duration, "");
    text = std::regex_replace(std::regex_replace(text, number, "#"), spaces, " ");
    text = std::regex_replace(text, counted, "$1");
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

// Returns whether the excerpt can be compared on this machine.
bool applies(const support::Excerpt& excerpt) {
    return excerpt.condition.empty() ||
           support::run({"bash", "-c", excerpt.condition}, {}, std::chrono::minutes(1)).exit_code ==
               0;
}

class Excerpts : public testing::TestWithParam<std::string> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_P(Excerpts, are_what_the_programs_print) {
    for (const support::Excerpt& excerpt : support::excerpts_of(GetParam())) {
        if (!applies(excerpt))
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

INSTANTIATE_TEST_SUITE_P(Documents, Excerpts, testing::ValuesIn(support::documents()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::ranges::replace_if(
                                 name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                             return name;
                         });

}  // namespace excerpts_test
