// Links in all documents lead to existing files and headings, the excerpts of runs are those of the
// reference runs, the diagrams in docs/concepts.md are those of the script, and the glossary is
// sorted.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/excerpts.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace documents_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the document's lines outside of code blocks.
std::vector<std::string> prose_of(const fs::path& document) {
    std::vector<std::string> lines;
    std::istringstream text(text_of(document));
    bool is_code = false;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("```"))
            is_code = !is_code;
        else if (!is_code)
            lines.push_back(line);
    }
    return lines;
}

// Returns the fragments that links to the document's headings use: lower case, with '-' for a
// space.
std::set<std::string> anchors_of(const fs::path& document) {
    std::set<std::string> anchors;
    for (const std::string& line : prose_of(document)) {
        const auto begin = line.find_first_not_of('#');
        if (begin == 0 || begin == std::string::npos || line[begin] != ' ')
            continue;
        std::string anchor;
        for (const char c : line.substr(begin + 1)) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_')
                anchor += static_cast<char>(std::tolower(byte));
            else if (c == ' ')
                anchor += '-';
        }
        anchors.insert(anchor);
    }
    return anchors;
}

std::vector<fs::path> documents() {
    std::vector<fs::path> all{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"};
    for (const char* folder : {"docs", "examples", "lab", "captures", "wireshark"})
        for (auto entry = fs::recursive_directory_iterator(folder); entry != end(entry); ++entry)
            if (entry->path() == "captures/runs")
                entry.disable_recursion_pending();
            else if (entry->path().extension() == ".md")
                all.push_back(entry->path());
    return all;
}

TEST(Documents, link_to_what_exists) {
    static const std::regex link(R"(\]\(([^)#\s]*)#?([^)\s]*)\))");
    int links = 0;
    for (const fs::path& document : documents())
        for (const std::string& line : prose_of(document))
            for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at) {
                const std::string file = (*at)[1];
                const std::string anchor = (*at)[2];
                if (file.starts_with("http"))
                    continue;
                const fs::path target = file.empty() ? document : document.parent_path() / file;
                EXPECT_TRUE(fs::exists(target)) << document << ": " << at->str();
                EXPECT_TRUE(anchor.empty() || anchors_of(target).contains(anchor))
                    << document << ": " << at->str();
                ++links;
            }
    EXPECT_GT(links, 500);
}

// Returns the file of the reference run of a lesson, "client.log" and "01"; empty if it has none.
fs::path reference_file(const std::string& name, const std::string& lesson) {
    for (const auto& folder : fs::directory_iterator("captures/samples"))
        if (folder.path().filename().string().starts_with(lesson + '_') &&
            fs::exists(folder.path() / name))
            return folder.path() / name;
    return {};
}

// So a number in one listing is found in the others of the page.
TEST(Documents, take_the_listings_of_a_page_from_one_run) {
    std::size_t compared = 0;
    for (const std::string& document : support::documents())
        for (const support::Excerpt& excerpt : support::excerpts_of(document)) {
            std::smatch match;
            if (excerpt.is_of_another_run ||
                !std::regex_match(excerpt.source, match,
                                  std::regex("([a-z.]+) of lesson ([0-9]+)")))
                continue;
            const fs::path file = reference_file(match[1], match[2]);
            if (file.empty())
                continue;
            const std::string text = '\n' + text_of(file);
            for (const std::string& line : excerpt.lines) {
                constexpr std::string_view more = "…";
                const bool is_cut = line.ends_with(more);
                std::string wanted =
                    '\n' + line.substr(0, line.size() - (is_cut ? more.size() : 0));
                while (is_cut && wanted.ends_with(' '))
                    wanted.pop_back();
                EXPECT_NE(text.find(is_cut ? wanted : wanted + '\n'), std::string::npos)
                    << document << ": not in " << file << ", see captures/refresh-excerpts:\n"
                    << line;
                ++compared;
            }
        }
    EXPECT_GT(compared, 100U);
}

// Returns the key by which the glossary is sorted: "rqpsn" for "`rq_psn`", "ack req" for "ack-req".
std::string sort_key(const std::string& term) {
    std::string key;
    for (const char c : term) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0)
            key += static_cast<char>(std::tolower(byte));
        else if (c == ' ' || c == '-')
            key += ' ';
    }
    return key;
}

TEST(Glossary, is_in_alphabetical_order) {
    std::vector<std::string> keys;
    for (const std::string& line : prose_of("docs/glossary.md"))
        if (line.starts_with("| ") && !line.starts_with("| term |"))
            keys.push_back(sort_key(line.substr(2, line.find(" |", 2) - 2)));
    EXPECT_GT(keys.size(), 100U);
    for (std::size_t i = 1; i < keys.size(); ++i)
        EXPECT_LT(keys[i - 1], keys[i]);
}

TEST(Diagrams, are_what_the_script_draws) {
    const support::TempPath drawn("diagrams");
    const auto outcome = support::run({"docs/figures/draw", drawn.str()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
    int diagrams = 0;
    for (const auto& entry : fs::directory_iterator(drawn.path())) {
        const fs::path kept = "docs/figures" / entry.path().filename();
        EXPECT_EQ(text_of(entry.path()), text_of(kept)) << kept << " is old: docs/figures/draw";
        ++diagrams;
    }
    EXPECT_EQ(diagrams, 8);
}

}  // namespace
}  // namespace documents_test
