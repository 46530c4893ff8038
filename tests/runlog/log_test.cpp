#include "runlog/log.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace {

namespace fs = std::filesystem;

class LogFile : public testing::Test {
  protected:
    void TearDown() override { fs::remove(path_); }

    std::vector<runlog::Event> events() const {
        std::vector<runlog::Event> all;
        std::ifstream file(path_);
        for (std::string line; std::getline(file, line);) {
            auto event = runlog::from_json(line);
            EXPECT_TRUE(event) << line;
            if (event)
                all.push_back(*std::move(event));
        }
        return all;
    }

    const fs::path path_ =
        fs::temp_directory_path() / ("runlog_test." + std::to_string(getpid()) + ".jsonl");
};

TEST_F(LogFile, holds_each_event_as_soon_as_it_is_written) {
    runlog::Log log("client", path_);
    log.event("qp", {{"qpn", 17u}});
    ASSERT_EQ(events().size(), 1u);  // the log is still open: events are not buffered
    log.note("done");
    const auto all = events();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].role, "client");
    EXPECT_EQ(all[0].number("qpn"), 17u);
    EXPECT_EQ(all[1].text("text"), "done");
    EXPECT_LE(all[0].t_ns, all[1].t_ns);
}

TEST_F(LogFile, an_event_written_later_has_the_time_when_it_happened) {
    runlog::Log log("client", path_);
    const std::int64_t happened = runlog::now_ns();
    log.event_at(happened, "post_send", {{"wr_id", 1u}});
    log.event("wc", {{"wr_id", 1u}});
    const auto all = events();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].t_ns, happened);
    EXPECT_EQ(all[0].number("wr_id"), 1u);
    EXPECT_GT(all[1].t_ns, happened);
}

TEST_F(LogFile, times_are_the_wall_clock) {
    using namespace std::chrono;
    const auto now = [] {
        return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    };
    const auto before = now();
    runlog::Log(std::string("server"), path_).note("x");
    const auto after = now();
    ASSERT_EQ(events().size(), 1u);
    EXPECT_GE(events()[0].t_ns, before);
    EXPECT_LE(events()[0].t_ns, after);
}

TEST_F(LogFile, an_error_is_an_event_too) {
    testing::internal::CaptureStderr();
    runlog::Log(std::string("client"), path_).error("nothing listens there.");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "client: nothing listens there.\n");
    ASSERT_EQ(events().size(), 1u);
    EXPECT_EQ(events()[0].name, "error");
}

// What is called before each event writes those of traced calls, which it cannot if the trace is full.
TEST_F(LogFile, an_error_is_told_though_what_comes_before_it_fails) {
    runlog::Log log("client", path_);
    int calls = 0;
    log.before_each([&] {
        if (++calls > 1)
            throw util::Error("the trace is incomplete.");
    });
    log.note("x");
    EXPECT_THROW(log.note("y"), util::Error);
    testing::internal::CaptureStderr();
    log.error("nothing listens there.");
    log.error("the trace is incomplete.");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "client: the trace is incomplete.\nclient: nothing listens there.\n"
              "client: the trace is incomplete.\n");
    EXPECT_EQ(calls, 4);
    ASSERT_EQ(events().size(), 3U);
    EXPECT_EQ(events()[0].text("text"), "x");
    EXPECT_EQ(events()[1].text("text"), "nothing listens there.");
    EXPECT_EQ(events()[2].text("text"), "the trace is incomplete.");
}

TEST_F(LogFile, of_standard_output_leaves_the_text_to_standard_error) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    runlog::Log("client", "-").event_at(1'500'000'000, "note", {{"text", "x"}});
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              R"({"t_ns":1500000000,"role":"client","event":"note","text":"x"})"
              "\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "00:00:01.500000 client note      x\n");
}

TEST_F(LogFile, is_for_its_owner_alone_and_empties_an_older_one) {
    runlog::Log(std::string("client"), path_).note("older");
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    runlog::Log(std::string("client"), path_).note("newer");
    ASSERT_EQ(events().size(), 1u);
    EXPECT_EQ(events()[0].text("text"), "newer");
}

TEST_F(LogFile, replaces_no_file_that_a_symbolic_link_leads_to) {
    const support::TempPath target("runlog_target");
    std::ofstream(target.str()) << "precious";
    fs::create_symlink(target.str(), path_);
    const auto error = support::error_text([&] { runlog::Log("client", path_); });
    EXPECT_NE(error.find("is a symbolic link"), std::string::npos) << error;
    std::ifstream file(target.str());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious");
}

TEST(Log, a_file_that_cannot_be_made_is_named) {
    try {
        runlog::Log log("client", "/nonexistent/folder/run.jsonl");
        FAIL() << "opened";
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("/nonexistent/folder/run.jsonl"),
                  std::string::npos);
    }
}

TEST(Log, a_full_disk_is_an_error_not_a_lost_event) {
    if (!fs::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full on this system";
    runlog::Log log("client", "/dev/full");
    EXPECT_THROW(log.note("x"), util::Error);
}

TEST_F(LogFile, a_log_that_could_not_be_written_whole_ends_with_a_whole_line) {
    runlog::Log log("client", path_);
    log.note("one");
    testing::internal::CaptureStdout();  // the text goes to a separate file, below the limit
    {
        const support::FileSizeLimit limit(fs::file_size(path_) + 10);
        EXPECT_EQ(support::error_text([&] { log.note("two"); }),
                  "run log incomplete: cannot write to " + path_.string() + ": File too large.");
    }
    log.note("after a gap");
    testing::internal::GetCapturedStdout();
    ASSERT_EQ(events().size(), 1u);
    EXPECT_EQ(events()[0].text("text"), "one");
    std::ifstream file(path_);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(content.ends_with("}\n")) << content;
}

}  // namespace
