// The table of events is what the program, the document and real logs agree on.
#include "runlog/event_table.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "runlog/tail.hpp"
#include "runlog/text_row.hpp"
#include "support/event_fit.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace event_table_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> codes_in(const std::string& text) {
    static const std::regex code("`([a-z0-9_]+)`");
    std::set<std::string> codes;
    for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at)
        if (!(*at)[1].str().starts_with("ibv_"))
            codes.insert((*at)[1]);
    return codes;
}

using Table = std::map<std::string, std::set<std::string>>;

// Events and their fields in the document's tables. What is in parentheses is a value.
Table documented() {
    static const std::regex row(R"(\| (`[^|]*) \| ([^|]*) \|.*)");
    static const std::regex values(R"(\([^)]*\))");
    Table table;
    std::ifstream file("docs/run-log.md");
    std::smatch match;
    for (std::string line; std::getline(file, line);)
        if (std::regex_match(line, match, row))
            for (const std::string& event : codes_in(match[1]))
                table[event].merge(codes_in(std::regex_replace(match[2].str(), values, "")));
    return table;
}

TEST(EventTable, is_documented) {
    Table table;
    for (const runlog::EventRow& row : runlog::event_rows)
        for (const runlog::Key* key : row.keys.all())
            EXPECT_TRUE(table[std::string(row.name)].insert(std::string(key->name)).second)
                << row.name << " has twice: " << key->name;
    for (const runlog::TextRow& row : runlog::lesson_rows)
        table.erase(std::string(row.event));
    Table document = documented();
    for (const auto& [event, keys] : table)
        EXPECT_EQ(document[event], keys) << event;
    EXPECT_EQ(document.size(), table.size()) << "an event is only in the document";
}

TEST(EventTable, has_each_name_once) {
    std::set<std::string_view> names;
    for (const runlog::EventRow& row : runlog::event_rows)
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

// An event without a text is a lesson's that rocecap reads.
TEST(EventTable, shares_no_name_with_a_lesson) {
    std::set<std::string_view> lessons;
    for (const runlog::TextRow& row : runlog::lesson_rows)
        lessons.insert(row.event);
    for (const runlog::EventRow& row : runlog::event_rows)
        EXPECT_EQ(lessons.contains(row.name), row.text.empty()) << row.name;
}

TEST(EventTable, fits_the_logs_of_the_reference_runs) {
    std::set<std::string> seen, misfits;
    for (const auto& file : fs::recursive_directory_iterator("captures/samples"))
        if (file.path().extension() == ".jsonl") {
            runlog::Tail log(file.path());
            while (const auto event = log.next()) {
                seen.insert(event->name);
                if (const std::string misfit = support::misfit(*event); !misfit.empty())
                    misfits.insert(misfit + " in " + file.path().string());
                EXPECT_TRUE(runlog::row_of(event->name) != nullptr ||
                            std::ranges::find(runlog::lesson_rows, event->name,
                                              &runlog::TextRow::event) != runlog::lesson_rows.end())
                    << event->name;
            }
        }
    // A lesson may add fields of its own.
    EXPECT_EQ(misfits, std::set<std::string>{
                           "check has not: swaps in captures/samples/13_atomics/client.jsonl"});
    EXPECT_GT(seen.size(), 60U);
}

TEST(EventTable, is_how_src_reads_events) {
    static const std::regex by_string(
        R"re(\b(event|post|wc|call|failure)(\.|->)((number|text)\("|name [!=]= "))re");
    for (const auto& entry : fs::recursive_directory_iterator("src"))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") {
            const std::string source = text_of(entry.path());
            std::smatch match;
            EXPECT_FALSE(std::regex_search(source, match, by_string))
                << entry.path() << ": " << match.str();
        }
}

// Each statement is a line of a function. The compiler's messages name the lines that are wrong.
TEST(EventTable, refuses_misspelt_names_and_keys_and_values_of_another_type) {
    struct Statement {
        const char* text;
        bool is_right;
    };
    constexpr Statement statements[] = {
        {R"(event.is("cq");)", true},
        {R"(event.is("qc");)", false},
        {"event[key::entries].value_or(1);", true},
        {"event[key::entires].value_or(1);", false},
        {"event[key::entries].empty();", false},
        {R"(tracelog::EventWriter<"cq">().add(key::cq, 1).add(key::entries, 2);)", true},
        {R"(tracelog::EventWriter<"qc">();)", false},
        {R"(tracelog::EventWriter<"cq">().add(key::entires, 1);)", false},
        {R"(tracelog::EventWriter<"cq">().add(key::qpn, 1);)", false},
        {R"(tracelog::EventWriter<"cq">().add(key::entries, "1");)", false},
        {R"(runlog::Field(key::qpn, 1U); runlog::Field(key::status, "SUCCESS");)", true},
        {"runlog::Field(key::entires, 1U);", false},
        {R"(runlog::Field(key::qpn, "1");)", false},
    };
    const support::TempPath folder("event_table");
    fs::create_directories(folder.str());
    const std::string path = folder.str() + "/source.cpp";
    std::ofstream(path) << "#include \"rocetrace/tracelog/event_writer.hpp\"\n"
                           "#include \"runlog/event.hpp\"\n"
                           "namespace key = runlog::key;\n"
                           "void test(const runlog::Event& event) {\n";
    constexpr int lines_before = 4;
    int line = lines_before;
    std::set<int> wrong, found;
    for (const Statement& statement : statements) {
        std::ofstream(path, std::ios::app) << statement.text << '\n';
        ++line;
        if (!statement.is_right)
            wrong.insert(line);
    }
    std::ofstream(path, std::ios::app) << "}\n";
    const char* compiler = std::getenv("CXX");
    const auto outcome = support::run({compiler == nullptr ? "c++" : compiler, "-std=c++20", "-w",
                                       "-Isrc", "-fsyntax-only", path});
    EXPECT_EQ(outcome.exit_code, 1);
    const std::regex place(R"(source\.cpp:(\d+):)");
    for (std::sregex_iterator at(outcome.err.begin(), outcome.err.end(), place), end; at != end;
         ++at)
        if (const int named = std::stoi((*at)[1]); named > lines_before)
            found.insert(named);
    EXPECT_EQ(found, wrong) << outcome.err;
}

}  // namespace
}  // namespace event_table_test
