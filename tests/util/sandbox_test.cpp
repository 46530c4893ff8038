// The system calls that the sandbox refuses, and those that it allows.
#include "util/sandbox.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/tool.hpp"

namespace sandbox_test {

// Makes the call in a separate process, which stays in the sandbox until it ends. `error`: the
// expected errno; 0: the call succeeds.
template <typename Call>
void expect_in_sandbox(int error, Call call) {
    EXPECT_EXIT(
        {
            util::enter_sandbox();
            errno = 0;
            std::_Exit(call() ? 0 : errno);
        },
        testing::ExitedWithCode(error), "");
}

class Sandbox : public testing::Test {
  protected:
    void SetUp() override {
        if (support::is_sanitized())
            GTEST_SKIP() << "with sanitizers there is no sandbox";
    }
};

TEST_F(Sandbox, starts_no_program_or_process) {
    expect_in_sandbox(EPERM, [] { return execl("/bin/true", "true", nullptr) == 0; });
    expect_in_sandbox(EPERM, [] { return fork() >= 0; });
    expect_in_sandbox(0, [] {
        char name[] = "true";
        char* arguments[] = {name, nullptr};
        return posix_spawn(nullptr, "/bin/true", nullptr, nullptr, arguments, environ) != 0;
    });
}

TEST_F(Sandbox, reaches_no_network) {
    for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_PACKET, AF_NETLINK})
        expect_in_sandbox(EPERM, [family] { return socket(family, SOCK_DGRAM, 0) >= 0; });
}

TEST_F(Sandbox, opens_files_and_has_threads) {
    expect_in_sandbox(0, [] { return open("/dev/null", O_RDWR | O_CLOEXEC) >= 0; });
    expect_in_sandbox(0, [] {
        bool ran = false;
        std::thread([&] { ran = true; }).join();
        return ran;
    });
}

}  // namespace sandbox_test
