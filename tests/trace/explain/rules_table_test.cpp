// docs/dev/rules.md: its table has the causes of the code, and names rules, fault cases and tests that
// exist.
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trace/explain/cause.hpp"

namespace rules_table_test {

namespace fs = std::filesystem;

const fs::path rules = "src/trace/explain";
const fs::path tests = "tests/trace/explain";

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Row {
    std::string cause;
    std::string alternatives;
    std::vector<std::string> files;  // "refusal.cpp"
    std::size_t cases = 0;
    std::vector<std::string> tests;  // "refusal" for refusal_test.cpp
};

// Returns the parts of a text that match the first group.
std::vector<std::string> parts_of(const std::string& text, const std::string& pattern) {
    const std::regex part(pattern);
    std::vector<std::string> parts;
    for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at)
        parts.push_back((*at)[1]);
    return parts;
}

// "| a | b |"
std::vector<std::string> cells_of(const std::string& line) {
    return parts_of(line, R"(\| ([^|]+) (?=\|))");
}

std::vector<Row> rows() {
    std::istringstream document(text_of("docs/dev/rules.md"));
    const std::regex last_cell("([0-9]+); ([a-z_, ]+)");
    std::vector<Row> all;
    std::string line;
    while (std::getline(document, line) && !line.starts_with("| cause | needs |")) {
    }
    std::getline(document, line);  // the separator below the head
    for (std::smatch match; std::getline(document, line) && line.starts_with('|');) {
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() != 6 || !std::regex_match(cells[5], match, last_cell)) {
            ADD_FAILURE() << "not a row: " << line;
            continue;
        }
        all.push_back({.cause = cells[0].substr(1, cells[0].size() - 2),
                       .alternatives = cells[3],
                       .files = parts_of(cells[4], "`([^`]+)`"),
                       .cases = std::stoul(match[1]),
                       .tests = parts_of(match[2], "([a-z_]+)")});
    }
    return all;
}

// The enumerators' names by those of the causes: "WrongRkey" by "wrong-rkey".
std::map<std::string, std::string> enumerators() {
    static const std::regex row(R"re(\{Code::(\w+),\s*"([a-z-]+)")re");
    const std::string text = text_of(rules / "cause.cpp");
    std::map<std::string, std::string> all;
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at)
        all[(*at)[2]] = (*at)[1];
    return all;
}

// Returns whether a text has a word that no letter, digit, '_' or '-' continues.
bool has_word(const std::string& text, const std::string& word) {
    const auto continues = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                    text[at] == '_' || text[at] == '-');
    };
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (!continues(at + word.size()) && (at == 0 || !continues(at - 1)))
            return true;
    return false;
}

TEST(RulesTable, has_a_row_for_each_cause_in_the_order_of_the_code) {
    std::vector<std::string> causes;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(explain::Code::Last); ++i)
        causes.emplace_back(name(static_cast<explain::Code>(i)));
    // None comes after the one that is last here.
    EXPECT_EQ(causes.size(), enumerators().size());
    std::vector<std::string> documented;
    for (const Row& row : rows())
        documented.push_back(row.cause);
    EXPECT_EQ(documented, causes);
}

TEST(RulesTable, has_alternatives_that_are_causes) {
    const auto known = enumerators();
    for (const Row& row : rows())
        for (const std::string& alternative : parts_of(row.alternatives, "`([a-z]+-[a-z-]+)`"))
            EXPECT_TRUE(known.contains(alternative)) << row.cause << ": " << alternative;
}

TEST(RulesTable, has_files_that_name_the_cause) {
    const auto known = enumerators();
    for (const Row& row : rows()) {
        EXPECT_FALSE(row.files.empty()) << row.cause;
        const auto code = known.find(row.cause);
        for (const std::string& file : row.files) {
            ASSERT_TRUE(fs::exists(rules / file)) << row.cause << ": " << file;
            EXPECT_TRUE(code != known.end() &&
                        has_word(text_of(rules / file), "Code::" + code->second))
                << row.cause << ": " << file;
        }
    }
}

TEST(RulesTable, has_the_numbers_of_the_fault_corpus) {
    std::map<std::string, std::size_t> labels;
    for (const auto& entry : fs::recursive_directory_iterator("tests/faults"))
        if (entry.path().extension() == ".case")
            for (const std::string& label :
                 parts_of('\n' + text_of(entry.path()), "\ncause: ([a-z-]+)(?=\n)"))
                ++labels[label];
    for (const Row& row : rows()) {
        EXPECT_EQ(row.cases, labels[row.cause]) << row.cause;
        labels.erase(row.cause);
    }
    // These are labels of runs without a cause, or without one that the data show.
    labels.erase("none");
    labels.erase("unknown");
    EXPECT_TRUE(labels.empty()) << labels.begin()->first << " is the code of no cause";
}

TEST(RulesTable, has_tests_that_expect_the_cause) {
    const auto known = enumerators();
    for (const Row& row : rows()) {
        EXPECT_FALSE(row.tests.empty()) << row.cause;
        const auto code = known.find(row.cause);
        for (const std::string& test : row.tests) {
            const fs::path file = tests / (test + "_test.cpp");
            ASSERT_TRUE(fs::exists(file)) << row.cause << ": " << file;
            const std::string text = text_of(file);
            EXPECT_TRUE(has_word(text, row.cause) ||
                        (code != known.end() && has_word(text, "Code::" + code->second)))
                << row.cause << ": " << file;
        }
    }
}

}  // namespace rules_table_test
