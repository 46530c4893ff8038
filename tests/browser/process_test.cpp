// The browser as a program: how it is found, its error messages, and its termination.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "browser/browser_fixture.hpp"
#include "support/devtools.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace {

namespace fs = std::filesystem;
using browser_test::contains;
using browser_test::thrown_by;

// Replaces PATH, so that only this test's programs are found.
class BrowserPath : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(folder_.str());
        setenv("PATH", folder_.str().c_str(), 1);
    }
    void TearDown() override { setenv("PATH", path_.c_str(), 1); }

    std::string program(const std::string& name, const std::string& text) {
        const fs::path file = fs::path(folder_.str()) / name;
        std::ofstream(file) << text;
        fs::permissions(file, fs::perms(0755));
        return file.string();
    }

  private:
    std::string path_ = std::getenv("PATH");
    support::TempPath folder_{"browser_path"};
};

TEST_F(BrowserPath, says_that_there_is_none) {
    EXPECT_EQ(support::Browser::path(), std::nullopt);
    EXPECT_EQ(support::Browser::why_none(),
              "there is no chromium, chromium-browser or google-chrome on PATH");
    EXPECT_EQ(thrown_by([] { support::Browser(); }), support::Browser::why_none());
}

TEST_F(BrowserPath, takes_no_snap) {
    const auto snap = program("chromium-browser", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n");
    EXPECT_EQ(support::Browser::path(), std::nullopt);
    EXPECT_EQ(support::Browser::why_none(),
              snap + " is a snap, which does not see the files in /tmp");
    const auto chrome = program("google-chrome", "#!/bin/sh\n");
    EXPECT_EQ(support::Browser::path(), chrome);
}

class BrowserLog : public testing::Test {
  protected:
    support::TempPath log_{"browser_log"};
};

TEST_F(BrowserLog, says_the_last_words_of_a_browser_that_ends) {
    support::DevTools devtools({"sh", "-c", "echo \"out of $THING\" >&2"}, {"THING=luck"},
                               log_.str());
    const auto error = thrown_by([&] { devtools.call("", "Browser.getVersion"); });
    EXPECT_TRUE(contains(error, "the browser ended while this waited for ")) << error;
    EXPECT_TRUE(contains(error, "out of luck\n"));
}

TEST_F(BrowserLog, says_what_a_browser_does_not_answer) {
    support::DevTools devtools({"sh", "-c", "cat <&3"}, {}, log_.str());
    const auto limit = std::chrono::milliseconds(20);
    EXPECT_EQ(thrown_by([&] { devtools.call("", "Browser.getVersion", {}, limit); }),
              "the browser: waited 20 ms in vain for the answer to Browser.getVersion");
}

class BrowserProcess : public browser_test::BrowserTest {};

std::vector<pid_t> group(pid_t leader) {
    std::vector<pid_t> members;
    for (const auto& entry : fs::directory_iterator("/proc"))
        if (const pid_t pid = std::atoi(entry.path().filename().c_str()); pid > 0)
            if (getpgid(pid) == leader)
                members.push_back(pid);
    return members;
}

TEST_F(BrowserProcess, leaves_no_process_and_no_file) {
    const auto ours = [] {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
            if (entry.path().filename().string().starts_with(std::to_string(getpid()) + "_browser"))
                names.push_back(entry.path());
        return names;
    };
    const auto before = ours();
    pid_t pid = 0;
    {
        support::Browser another;
        pid = another.pid();
        EXPECT_GT(group(pid).size(), 1U) << "a browser is several processes";
        EXPECT_EQ(ours().size(), before.size() + 1);
    }
    EXPECT_EQ(group(pid), std::vector<pid_t>{});
    EXPECT_EQ(ours(), before);
}

TEST_F(BrowserProcess, says_that_a_browser_was_killed) {
    support::Browser another;
    kill(another.pid(), SIGKILL);
    EXPECT_TRUE(contains(thrown_by([&] { another.open("/dev/null"); }), "the browser ended"));
}

TEST_F(BrowserProcess, says_that_a_page_crashed) {
    support::Browser another;
    auto page = another.open("/dev/null");
    for (const pid_t member : group(another.pid())) {
        std::ifstream command("/proc/" + std::to_string(member) + "/cmdline");
        std::string words;
        std::getline(command, words);
        if (words.find("--type=renderer") != std::string::npos)
            kill(member, SIGKILL);
    }
    EXPECT_TRUE(contains(thrown_by([&] { page.evaluate("1"); }), "the page crashed: file:///dev/"));
}

// Returns a file descriptor that is readable when the process has ended, even if it is not a child:
// pidfd_open(2). Invalid if it has already ended.
util::Fd end_of(pid_t pid) {
    return util::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

// Starts a browser, writes its process id, and waits to be killed.
[[noreturn]] void be_the_test_that_dies(const std::string& folder, const util::Fd& out) {
    setenv("TMPDIR", folder.c_str(), 1);
    try {
        support::Browser browser;
        const pid_t pid = browser.pid();
        if (write(out.get(), &pid, sizeof pid) == sizeof pid)
            pause();
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
    }
    _exit(1);
}

TEST_F(BrowserProcess, does_not_survive_a_test_that_dies) {
    std::array<int, 2> ends{};
    CHECK_ERRNO(pipe2(ends.data(), O_CLOEXEC));
    const util::Fd read_end(ends[0]);
    util::Fd write_end(ends[1]);
    const support::TempPath left_behind("dying_test");
    fs::create_directories(left_behind.str());
    const pid_t test = CHECK_ERRNO(fork());
    if (test == 0)
        be_the_test_that_dies(left_behind.str(), write_end);
    write_end.reset();
    pid_t pid = 0;
    const bool started = read(read_end.get(), &pid, sizeof pid) == sizeof pid;
    std::vector<util::Fd> processes;
    if (started)
        for (const pid_t member : group(pid))
            if (auto end = end_of(member))
                processes.push_back(std::move(end));
    kill(test, SIGKILL);
    waitpid(test, nullptr, 0);
    ASSERT_TRUE(started) << "the browser did not start there";
    EXPECT_GT(processes.size(), 1U);
    for (const util::Fd& process : processes) {
        pollfd fd{process.get(), POLLIN, 0};
        constexpr int time_limit = 10'000;
        EXPECT_EQ(poll(&fd, 1, time_limit), 1) << "a process of the browser is still there";
    }
}

}  // namespace
