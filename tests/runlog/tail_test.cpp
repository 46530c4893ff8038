#include "runlog/tail.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;

class RunlogTail : public testing::Test {
  protected:
    void TearDown() override { fs::remove(path_); }
    void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

    static std::string line(const char* text) {
        return runlog::to_json({1, "client", "note", {{"text", text}}}) + "\n";
    }

    const fs::path path_ =
        fs::temp_directory_path() / ("tail_test." + std::to_string(getpid()) + ".jsonl");
    runlog::Tail tail_{path_};
};

TEST_F(RunlogTail, waits_for_a_file_that_is_not_there_yet) {
    EXPECT_FALSE(tail_.next());
    append(line("a"));
    EXPECT_EQ(tail_.next()->text("text"), "a");
    EXPECT_FALSE(tail_.next());
}

TEST_F(RunlogTail, gives_a_line_only_when_it_is_whole) {
    const std::string whole = line("in two parts");
    append(whole.substr(0, 20));
    EXPECT_FALSE(tail_.next());
    append(whole.substr(20));
    EXPECT_EQ(tail_.next()->text("text"), "in two parts");
}

TEST_F(RunlogTail, counts_what_is_no_event_and_goes_on) {
    append("what a shell might print\n" + line("b") + "{}\n");
    EXPECT_EQ(tail_.next()->text("text"), "b");
    EXPECT_FALSE(tail_.next());
    EXPECT_EQ(tail_.skipped_lines(), 2u);
}

TEST_F(RunlogTail, reads_lines_longer_than_its_buffer) {
    append(line(std::string(200'000, 'x').c_str()) + line("after"));
    EXPECT_EQ(tail_.next()->text("text").size(), 200'000u);
    EXPECT_EQ(tail_.next()->text("text"), "after");
}

}  // namespace
