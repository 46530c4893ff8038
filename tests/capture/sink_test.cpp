#include "capture/sink.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_path.hpp"

namespace {

using capture::Sink;
using support::error_text;

// The programs ignore SIGPIPE, so that write() returns an error if the reader has closed the pipe.
class SinkTest : public testing::Test {
  protected:
    SinkTest() { std::signal(SIGPIPE, SIG_IGN); }

    static std::string content(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    const support::TempPath temp_{"sink"};
    const std::string path_ = temp_.str();
};

struct Pipe {
    Pipe() {
        std::array<int, 2> fds{};
        if (pipe(fds.data()) != 0)
            throw std::runtime_error("pipe");
        reader = util::Fd(fds[0]);
        writer = util::Fd(fds[1]);
    }
    util::Fd reader, writer;
};

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = read(fd, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(n));
    return text;
}

// malloc() maps a block of this size by itself, and mallinfo2() counts it.
TEST_F(SinkTest, keeps_nothing_of_what_it_has_written) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const std::string text(piece, 'x');
    const auto in_use = [] {
        const auto info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    for (const auto write : {&Sink::flush, &Sink::flush_some}) {
        Sink sink = Sink::create(path_);
        sink.set_buffer_limit(2 * piece);
        const std::size_t before = in_use();
        for (int i = 0; i < 16; ++i) {
            sink.append(text);
            (sink.*write)();
        }
        EXPECT_LT(in_use() - before, 4 * piece);
        sink.close();
        EXPECT_EQ(std::filesystem::file_size(path_), 16 * piece);
    }
}

TEST_F(SinkTest, writes_what_was_appended_when_flushed_or_closed) {
    Sink sink = Sink::create(path_);
    sink.append("one\n");
    EXPECT_EQ(content(path_), "");
    sink.flush();
    EXPECT_EQ(content(path_), "one\n");
    sink.append("two\n");
    sink.close();
    EXPECT_EQ(content(path_), "one\ntwo\n");
}

TEST_F(SinkTest, writes_by_itself_when_the_buffer_is_full) {
    Sink sink = Sink::create(path_);
    sink.set_buffer_limit(8);
    sink.append("1234567");
    EXPECT_EQ(content(path_), "");
    sink.append("89");
    EXPECT_EQ(content(path_), "123456789");
}

TEST_F(SinkTest, a_path_that_cannot_be_written_is_named) {
    try {
        Sink::create("/nonexistent/file");
        FAIL();
    } catch (const util::Error& error) {
        EXPECT_STREQ(error.what(), "cannot write '/nonexistent/file': No such file or directory.");
    }
}

TEST_F(SinkTest, a_reader_that_went_away_is_told_apart_from_a_failure) {
    Pipe pipe;
    Sink sink(std::move(pipe.writer), "the pipe");
    pipe.reader.reset();
    sink.append("x");
    EXPECT_THROW(sink.flush(), capture::ReaderGone);
    Sink full(util::Fd(open("/dev/full", O_WRONLY)), "/dev/full");
    full.append("x");
    try {
        full.flush();
        FAIL();
    } catch (const capture::ReaderGone&) {
        FAIL() << "a full disk has no reader";
    } catch (const util::Error& error) {
        EXPECT_STREQ(error.what(), "cannot write to /dev/full: No space left on device.");
    }
}

TEST_F(SinkTest, a_failed_write_leaves_no_half_record) {
    Sink sink = Sink::create(path_);
    sink.append("12345\n");
    sink.append("67890\n");
    {
        const support::FileSizeLimit limit(8);
        EXPECT_THROW(sink.flush(), util::Error);
    }
    EXPECT_EQ(content(path_), "12345\n");
    sink.append("abc\n");
    sink.append("defghi\n");
    {
        const support::FileSizeLimit limit(11);
        EXPECT_THROW(sink.flush(), util::Error);
    }
    EXPECT_EQ(content(path_), "12345\nabc\n");
    sink.append("j\n");
    sink.close();
    EXPECT_EQ(content(path_), "12345\nabc\nj\n");
}

TEST_F(SinkTest, a_failed_write_leaves_no_half_record_in_a_redirected_file_either) {
    Sink sink(util::Fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)), "the output");
    sink.append("12345\n67890\n");
    sink.append("abcdef\n");
    const support::FileSizeLimit limit(14);
    EXPECT_EQ(error_text([&] { sink.flush(); }), "cannot write to the output: File too large.");
    EXPECT_EQ(content(path_), "12345\n67890\n");
}

TEST_F(SinkTest, what_others_have_written_to_a_file_is_never_cut) {
    std::ofstream(path_) << "older\n";
    Sink sink(util::Fd(open(path_.c_str(), O_WRONLY | O_APPEND)), "the output");
    sink.append("12345\n");
    const support::FileSizeLimit limit(8);
    EXPECT_THROW(sink.flush(), util::Error);
    EXPECT_TRUE(content(path_).starts_with("older\n"));
}

TEST_F(SinkTest, a_file_that_was_there_stays_until_something_is_written) {
    std::ofstream(path_) << "older and longer";
    {
        const support::FileSizeLimit limit(0);
        Sink sink = Sink::create(path_);
        sink.append("new");
        EXPECT_THROW(sink.flush(), util::Error);
    }
    EXPECT_EQ(content(path_), "older and longer");
    Sink sink = Sink::create(path_);
    sink.append("new");
    sink.close();
    EXPECT_EQ(content(path_), "new");
    Sink::create(path_).close();
    EXPECT_EQ(content(path_), "");
}

TEST_F(SinkTest, a_new_file_that_takes_nothing_is_not_left_behind) {
    const support::FileSizeLimit limit(0);
    {
        Sink sink = Sink::create(path_);
        sink.append("new");
        EXPECT_THROW(sink.flush(), util::Error);
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SinkTest, a_file_is_replaced_as_a_whole) {
    std::ofstream(path_) << "older";
    ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
    {
        Sink unfinished = Sink::replace(path_);
        unfinished.append("new");
        unfinished.flush();
    }
    EXPECT_EQ(content(path_), "older");
    Sink sink = Sink::replace(path_);
    sink.append("new");
    sink.flush();
    EXPECT_EQ(content(path_), "older");
    sink.close();
    EXPECT_EQ(content(path_), "new");
    struct stat status {};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST_F(SinkTest, a_file_that_cannot_be_replaced_stays_and_nothing_is_left_beside_it) {
    const support::TempPath folder("sink_replace");
    std::filesystem::create_directory(folder.str());
    const std::string path = folder.str() + "/file";
    const auto fails = [&] {
        const support::FileSizeLimit limit(2);
        Sink sink = Sink::replace(path);
        sink.append("new");
        sink.close();
    };
    const std::string sentence = "cannot write to '" + path + "': File too large.";
    EXPECT_EQ(error_text(fails), sentence);
    EXPECT_TRUE(std::filesystem::is_empty(folder.str()));
    std::ofstream(path) << "older";
    EXPECT_EQ(error_text(fails), sentence);
    EXPECT_EQ(content(path), "older");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.str()), {}), 1);
}

TEST_F(SinkTest, a_killed_program_leaves_nothing_beside_the_file_that_it_would_replace) {
    const support::TempPath folder("sink_killed");
    std::filesystem::create_directory(folder.str());
    if (!util::Fd(open(folder.str().c_str(), O_TMPFILE | O_WRONLY, 0600)))
        GTEST_SKIP() << "the file system of " << folder.str() << " has no O_TMPFILE";
    const std::string path = folder.str() + "/file";
    std::ofstream(path) << "older";
    EXPECT_EXIT(
        {
            Sink sink = Sink::replace(path);
            sink.append("new");
            sink.flush();
            std::raise(SIGKILL);
        },
        testing::KilledBySignal(SIGKILL), "");
    EXPECT_EQ(content(path), "older");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.str()), {}), 1);
}

TEST_F(SinkTest, a_link_is_not_replaced_and_a_device_is_written) {
    const support::TempPath link("sink_link");
    std::filesystem::create_symlink(path_, link.str());
    EXPECT_NE(error_text([&] { Sink::replace(link.str()); }).find("symbolic link"),
              std::string::npos);
    Sink sink = Sink::replace("/dev/null");
    sink.append("x");
    sink.close();
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// A record larger than the buffer of a pipe or socket.
const std::string large(3'000'000, 'x');

void expect_backlog_and_all_of_it(util::Fd writer, int reader) {
    Sink sink(std::move(writer), "the reader");
    sink.set_buffer_limit(2 * large.size());
    sink.append(large);
    sink.flush_some();
    EXPECT_TRUE(sink.has_backlog()) << "nobody reads, and flush_some() came back";
    std::string got;
    std::thread reading([&] { got = read_all(reader); });
    sink.append("the end");
    sink.close();
    reading.join();
    EXPECT_EQ(got.size(), large.size() + 7);
    EXPECT_TRUE(got.ends_with("xthe end"));
}

TEST_F(SinkTest, a_slow_pipe_holds_nobody_up_and_gets_all) {
    Pipe pipe;
    expect_backlog_and_all_of_it(std::move(pipe.writer), pipe.reader.get());
}

TEST_F(SinkTest, a_slow_socket_holds_nobody_up_and_gets_all) {
    std::array<int, 2> fds{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    const util::Fd reader(fds[0]);
    expect_backlog_and_all_of_it(util::Fd(fds[1]), reader.get());
}

void expect_to_give_up(Sink& sink) {
    const auto started = util::Clock::now();
    EXPECT_THROW(sink.append(large), util::Error);
    EXPECT_GE(util::Clock::now() - started, std::chrono::seconds(2)) << "the reader's last chance";
    EXPECT_LT(util::Clock::now() - started, std::chrono::seconds(10));
}

TEST_F(SinkTest, gives_up_on_a_reader_that_does_not_read_once_a_stop_is_requested) {
    util::StopSignal stop;
    Pipe pipe;
    Sink sink(std::move(pipe.writer), "the pipe");
    sink.give_up_on(stop);
    kill(getpid(), SIGTERM);
    expect_to_give_up(sink);
}

TEST_F(SinkTest, gives_up_on_a_reader_that_does_not_read_once_its_time_is_over) {
    util::StopSignal stop;
    Pipe pipe;
    Sink sink(std::move(pipe.writer), "the pipe");
    sink.give_up_on(stop, util::deadline_in(std::chrono::milliseconds(100)));
    expect_to_give_up(sink);
}

}  // namespace
