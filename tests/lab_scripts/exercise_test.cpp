// `lab/lab exercise` without a lab: how answers are compared, and whether the questions of all
// lessons are well-formed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace exercise_test {
namespace {

namespace fs = std::filesystem;

// Runs a command with the functions of the lab's script.
support::Outcome with_functions(const std::string& command, support::Argv arguments) {
    support::Argv argv{"bash", "-c",
                       "set -euo pipefail; . lab/lib/common.sh; . lab/lib/exercise.sh; " + command};
    std::ranges::move(arguments, std::back_inserter(argv));
    return support::run(argv);
}

struct Answer {
    const char* name;
    const char* value;
    const char* answer;
    bool is_right;
};

class ExerciseAnswer : public testing::TestWithParam<Answer> {};

TEST_P(ExerciseAnswer, is_compared_by_its_meaning) {
    const Answer& given = GetParam();
    const auto outcome = with_functions("is_right \"$0\" \"$1\"", {given.value, given.answer});
    EXPECT_EQ(outcome.exit_code, given.is_right ? 0 : 1) << outcome.all();
    EXPECT_EQ(outcome.err, "");
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, ExerciseAnswer,
    testing::Values(Answer{"decimal", "16", "16", true}, Answer{"another", "16", "61", false},
                    Answer{"hexadecimal", "16", "0x10", true},
                    Answer{"upper_case", "0x9eecb7", "0X9EECB7", true},
                    Answer{"decimal_of_a_psn", "0x9eecb7", "10415287", true},
                    Answer{"psn_without_0x", "0x9eecb7", "9EECB7", true},
                    Answer{"psn_of_digits_only", "0x123456", "123456", true},
                    Answer{"count_is_not_read_as_hexadecimal", "16", "10", false},
                    Answer{"leading_zeros", "0x000011", "0x11", true},
                    Answer{"decimal_with_leading_zeros", "8", "008", true},
                    Answer{"spaces", "16", "  16 ", true},
                    Answer{"unit", "4096", "4096 bytes", true},
                    Answer{"word", "2", "Two packets.", true},
                    Answer{"another_word", "2", "three", false},
                    Answer{"full_stop", "2", "2.", true}, Answer{"none", "0", "none of them", true},
                    Answer{"64_bits", "0xffffffffffffffff", "0xffffffffffffffff", true},
                    Answer{"too_long", "5", "18446744073709551621", false},
                    Answer{"no_number", "2", "$(touch x)", false},
                    Answer{"option", "2", "-n", false}, Answer{"pattern", "2", "*", false},
                    Answer{"empty", "0", "", false}, Answer{"only_spaces", "0", "   ", false}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Texts, ExerciseAnswer,
    testing::Values(Answer{"whole", "RC RDMA WRITE Only", "rc rdma write only", true},
                    Answer{"end", "RC RDMA WRITE Only", "write  only", true},
                    Answer{"last_word", "RC RDMA WRITE Only", "Only", true},
                    Answer{"quoted", "ACK", "\"ack\"", true},
                    Answer{"beginning", "RC RDMA WRITE Only", "rc rdma", false},
                    Answer{"part_of_a_word", "NAK", "K", false},
                    Answer{"another", "ACK", "NAK", false}, Answer{"pattern", "ACK", "*", false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Exercise, needs_a_lab_and_says_so_in_one_sentence) {
    const support::TempPath state("exercise_state");
    const auto outcome = support::run({"lab/lab", "exercise", "01"}, {"LAB_STATE=" + state.str()});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "lab: the lab is down: run lab/lab up first.\n");
}

TEST(Exercise, takes_one_lesson_that_has_questions) {
    for (const support::Argv& arguments : {support::Argv{}, {"01", "03"}, {"05"}, {"99"}}) {
        support::Argv argv{"lab/lab", "exercise"};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto outcome = support::run(argv);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
    }
}

TEST(Exercise, refuses_a_file_that_is_not_well_formed) {
    const support::TempPath file("exercises");
    for (const auto& [text, says] :
         {std::pair{"  of nothing\n", "continues nothing"}, {"asks Why?\n", "'asks' is not an"}}) {
        std::ofstream(file.path()) << text;
        const auto outcome = with_functions("read_exercises \"$0\"", {file.str()});
        EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.all();
        EXPECT_NE(outcome.err.find(file.str()), std::string::npos) << outcome.all();
    }
}

// Runs a command with the functions and the sample of lesson 01 as the run.
support::Outcome with_run(const std::string& command, const std::string& argument) {
    const support::TempPath log("exercise_log");
    return with_functions("EXERCISES=the-file ROCECAP=build/rocecap RUN=$0 LOG=$1; " + command,
                          {"captures/samples/01_cm_write_read", log.str(), argument});
}

support::Outcome value_of(const std::string& value) {
    return with_run("value_of \"$2\"", value);
}

TEST(Exercise, takes_values_from_the_capture) {
    EXPECT_EQ(value_of("count deth.srcqp == 1").out, "5\n");
    EXPECT_EQ(value_of("count aeth.type == NAK").out, "0\n");
    EXPECT_EQ(value_of("first reth.dmalen where reth").out, "10000\n");
    EXPECT_EQ(value_of("last payload_len where bth.opcode == 8").out, "1808\n");
    EXPECT_TRUE(value_of("first bth.psn where reth").out.starts_with("0x"));
}

TEST(Exercise, names_the_file_and_the_filter_if_no_packet_matches) {
    for (const char* value : {"first bth.psn where bth.opcode == 10",
                              "first reth.va where aeth.type == ACK", "last bth.psm where bth"}) {
        const auto outcome = value_of(value);
        EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("the-file, '" + std::string(value) + "'"), std::string::npos)
            << outcome.all();
    }
}

TEST(Exercise, replaces_nested_values_in_a_text) {
    const auto outcome =
        with_run("fill \"$2\"; echo \"$FILLED\"",
                 "{count bth.psn == {first bth.psn where bth.opcode == 8}} of {A, B}");
    EXPECT_EQ(outcome.out, "2 of {A, B}\n") << outcome.all();
}

// ---- The questions of the lessons

struct Questions {
    fs::path lesson;
    std::vector<std::string> instructions;
};

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::vector<Questions> all_questions() {
    std::vector<Questions> all;
    for (const auto& entry : fs::directory_iterator("examples")) {
        const fs::path file = entry.path() / "exercises";
        if (!fs::exists(file))
            continue;
        const auto outcome = with_functions(
            R"(read_exercises "$0"; printf '%s\n' "${INSTRUCTIONS[@]}")", {file.string()});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        all.push_back({entry.path(), lines_of(outcome.out)});
    }
    EXPECT_GE(all.size(), 15U);
    return all;
}

std::string word_of(const std::string& instruction) {
    return instruction.substr(0, instruction.find(' '));
}

TEST(Exercises, have_an_answer_and_an_explanation_for_each_question) {
    for (const auto& [lesson, instructions] : all_questions()) {
        const std::string number = lesson.filename().string().substr(0, 2);
        bool has_capture = false;
        std::string before = "run";  // the instruction before, or the answer for count, first, last
        for (const std::string& instruction : instructions) {
            SCOPED_TRACE(lesson.string() + ": " + instruction);
            const std::string word = word_of(instruction);
            const bool is_answer = word == "count" || word == "first" || word == "last";
            EXPECT_EQ(is_answer, before == "ask");
            EXPECT_EQ(word == "why", before == "answer");
            if (word == "run" || word == "try") {
                EXPECT_TRUE(std::regex_search(
                    instruction, std::regex("^(run|try) ([A-Z_]+='[^']*' )*(capture " + number +
                                            "( -- .*)?|wire (clear|'[^']*')|netem .*)$")));
                has_capture |= instruction.find("capture") != std::string::npos;
            } else {
                EXPECT_TRUE(has_capture);
            }
            before = is_answer ? "answer" : word;
        }
        EXPECT_TRUE(before == "why" || before == "predict") << lesson;
        const auto asked = std::ranges::count(instructions, "ask", word_of);
        EXPECT_GE(asked, 3) << lesson;
        EXPECT_LE(asked, 6) << lesson;
    }
}

// Checks a value such as "first bth.psn where reth" with a capture.
void expect_accepted(const std::string& value, const std::string& capture) {
    std::string field = "frame";
    std::string filter = value.substr(value.find(' ') + 1);
    if (word_of(value) != "count") {
        const auto where = filter.find(" where ");
        ASSERT_NE(where, std::string::npos) << value;
        field = filter.substr(0, where);
        filter.erase(0, where + 7);
    }
    const auto outcome =
        support::run({"build/rocecap", "decode", capture, "--fields", field, "--where", filter});
    EXPECT_EQ(outcome.exit_code, 0) << value << '\n' << outcome.all();
}

TEST(Exercises, have_filters_and_fields_that_rocecap_accepts) {
    static const std::regex in_braces(R"(\{((count|first|last) [^{}]*)\})");
    int values = 0;
    for (const auto& [lesson, instructions] : all_questions()) {
        std::string capture = "captures/samples/" + lesson.filename().string();
        if (!fs::exists(capture + "/annotated.pcapng"))
            capture = "captures/samples/01_cm_write_read";
        for (std::string instruction : instructions) {
            SCOPED_TRACE(lesson.string() + ": " + instruction);
            for (std::smatch match; std::regex_search(instruction, match, in_braces); ++values) {
                expect_accepted(match[1], capture);
                const bool is_address =
                    std::regex_search(match[1].str(), std::regex("^(first|last) ip\\."));
                instruction =
                    match.prefix().str() + (is_address ? "192.0.2.1" : "0") + match.suffix().str();
            }
            EXPECT_FALSE(std::regex_search(instruction, std::regex("\\{(count|first|last) ")))
                << "a value in braces contains other braces";
            const std::string word = word_of(instruction);
            if (word == "count" || word == "first" || word == "last") {
                expect_accepted(instruction, capture);
                ++values;
            }
        }
    }
    EXPECT_GT(values, 60);
}

TEST(Exercises, are_announced_by_the_same_line_at_the_same_place) {
    int announced = 0;
    for (const auto& entry : fs::directory_iterator("examples")) {
        const std::string command =
            "`lab/lab exercise " + entry.path().filename().string().substr(0, 2);
        const std::string readme = text_of(entry.path() / "README.md");
        if (readme.find(command) == std::string::npos)
            continue;
        EXPECT_TRUE(fs::exists(entry.path() / "exercises")) << entry.path();
        EXPECT_NE(
            readme.find("\n## Exercises\n\n" + command +
                        "` asks questions like these and checks your answers against your own "
                        "capture.\n\n"),
            std::string::npos)
            << entry.path();
        ++announced;
    }
    EXPECT_GE(announced, 15);
}

}  // namespace
}  // namespace exercise_test
