// The texts of events that only one lesson writes (examples/NN_name/events).
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "runlog/event.hpp"
#include "runlog/text_row.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class LessonEvents : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_.str()); }

    support::Outcome generate(const std::string& first, const std::string& second = {}) const {
        const std::string a = folder_.str() + "/first";
        const std::string b = folder_.str() + "/second";
        std::ofstream(a) << first;
        std::ofstream(b) << second;
        return support::run({"src/runlog/lesson_events", a, b});
    }

    support::TempPath folder_{"lesson_events"};
};

TEST_F(LessonEvents, of_every_lesson_s_file_are_in_the_program) {
    std::size_t lines = 0;
    for (const auto& lesson : fs::directory_iterator("examples")) {
        std::ifstream file(lesson.path() / "events");
        for (std::string line; std::getline(file, line);)
            lines += line.empty() || line.front() == '#' ? 0 : 1;
    }
    EXPECT_EQ(runlog::lesson_rows.size(), lines);
    EXPECT_GT(lines, 40U);
}

TEST_F(LessonEvents, read_as_their_pattern_says) {
    const runlog::Event event{
        0, "server", "torn", {{"rank", 2U}, {"weights", 9U}, {"old", 4U}, {"new", 5U}}};
    EXPECT_EQ(to_text(event), "torn      rank 2 has seen 4 of 9 weights old and 5 new");
}

TEST_F(LessonEvents, keep_quotes_and_brackets) {
    const auto outcome = generate("# a comment\n\nmemory_of: [{va:x}: ]\"{begins}\"\n");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("TextRow{\"memory_of\", R\"~([{va:x}: ]\"{begins}\")~\"},"),
              std::string::npos)
        << outcome.out;
}

TEST_F(LessonEvents, of_two_lessons_have_different_names) {
    const auto outcome = generate("rank: one\n", "table: two\nrank: three\n");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, folder_.str() + "/second:2: " + folder_.str() +
                               "/first has the event \"rank\", too: give it another name.\n");
}

TEST_F(LessonEvents, a_line_without_a_pattern_is_refused) {
    const auto outcome = generate("rank\n");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("first:1: a line is EVENT: PATTERN"), std::string::npos)
        << outcome.err;
}

}  // namespace
