// Files that a capture may be written to, and their permissions.
#include "util/output_file.hpp"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "capture/sink.hpp"
#include "support/error_text.hpp"
#include "support/temp_path.hpp"

namespace output_file_test {

using support::error_text;
using util::open_output;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
  protected:
    OutputFile() { fs::create_directory(folder_.str()); }

    static unsigned mode(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
        return status.st_mode & 07777U;
    }
    static std::string content(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void share_folder() const { ASSERT_EQ(chmod(folder_.str().c_str(), 01777), 0); }

    support::TempPath folder_{"output_file"};
    std::string path_ = folder_.str() + "/run.pcapng";
};

TEST_F(OutputFile, a_new_one_is_for_its_owner_alone) {
    EXPECT_TRUE(open_output(path_).is_new);
    EXPECT_EQ(mode(path_), 0600U);
}

TEST_F(OutputFile, one_that_is_there_keeps_its_mode_and_content) {
    std::ofstream(path_) << "older";
    ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
    EXPECT_FALSE(open_output(path_).is_new);
    EXPECT_EQ(content(path_), "older");
    capture::Sink::create(path_).close();
    EXPECT_EQ(content(path_), "");
    EXPECT_EQ(mode(path_), 0644U);
}

TEST_F(OutputFile, no_symbolic_link_is_followed) {
    const std::string target = folder_.str() + "/target";
    fs::create_symlink(target, path_);
    const std::string sentence =
        "cannot write '" + path_ + "': it is a symbolic link. Give the path of its target.";
    EXPECT_EQ(error_text([&] { open_output(path_); }), sentence);
    EXPECT_FALSE(fs::exists(target));
    std::ofstream(target) << "precious";
    EXPECT_EQ(error_text([&] { capture::Sink::create(path_); }), sentence);
    EXPECT_EQ(content(target), "precious");
}

TEST_F(OutputFile, the_names_of_descriptors_are_no_such_links) {
    std::array<int, 2> fds{};
    ASSERT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
    const util::Fd reader(fds[0]);
    const util::Fd writer(fds[1]);
    for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
        auto sink = capture::Sink::create(folder + std::to_string(writer.get()));
        sink.append("hello");
        sink.close();
        std::array<char, 5> text{};
        EXPECT_EQ(read(reader.get(), text.data(), text.size()), 5) << folder;
    }
    EXPECT_FALSE(open_output("/dev/null").is_new);
}

TEST_F(OutputFile, in_a_folder_of_everyones_a_hard_link_is_refused) {
    const std::string target = folder_.str() + "/target";
    std::ofstream(target) << "precious";
    fs::create_hard_link(target, path_);
    EXPECT_FALSE(open_output(path_).is_new) << "nobody else can have made it";
    share_folder();
    EXPECT_NE(error_text([&] { open_output(path_); }).find("it has several hard links"),
              std::string::npos);
    EXPECT_EQ(content(target), "precious");
}

TEST_F(OutputFile, in_a_folder_of_everyones_another_users_file_is_refused) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root, to give a file away";
    constexpr uid_t somebody = 4711;
    std::ofstream(path_) << "planted";
    const std::string fifo = folder_.str() + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0666), 0);
    const util::Fd reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (const auto& path : {path_, fifo})
        ASSERT_EQ(chown(path.c_str(), somebody, somebody), 0);
    EXPECT_EQ(error_text([&] { open_output(path_); }), "") << "root may write where it likes";
    share_folder();
    for (const auto& path : {path_, fifo}) {
        EXPECT_NE(error_text([&] { open_output(path); }).find("it belongs to another user"),
                  std::string::npos);
        EXPECT_EQ(error_text([&] { open_output(path, {.owner = somebody}); }), "");
    }
    EXPECT_EQ(content(path_), "planted");
}

TEST_F(OutputFile, a_fifo_is_waited_for_until_somebody_reads) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    std::string got;
    std::thread reading([&] {
        std::this_thread::sleep_for(200ms);
        got = content(path_);
    });
    auto sink = capture::Sink::create(path_);
    sink.append("hello");
    sink.close();
    reading.join();
    EXPECT_EQ(got, "hello");
}

TEST_F(OutputFile, waiting_for_a_fifos_reader_ends_with_a_stop_or_in_time) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    const std::string sentence =
        "gave up writing to '" + path_ + "': no program has opened it for reading.";
    EXPECT_EQ(error_text([&] { open_output(path_, {.end = util::deadline_in(100ms)}); }), sentence);
    util::StopSignal stop;
    kill(getpid(), SIGTERM);
    EXPECT_EQ(error_text([&] { open_output(path_, {.stop = &stop}); }), sentence);
}

}  // namespace output_file_test
