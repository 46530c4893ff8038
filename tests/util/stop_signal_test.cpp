#include "util/stop_signal.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "util/check.hpp"

namespace {

using namespace std::chrono_literals;

struct Pipe {
    util::Fd in, out;

    Pipe() {
        std::array<int, 2> fds{};
        CHECK_ERRNO(pipe(fds.data()));
        in = util::Fd(fds[0]);
        out = util::Fd(fds[1]);
    }
};

TEST(StopSignal, is_requested_by_sigterm_and_stays_so) {
    util::StopSignal stop;
    EXPECT_FALSE(stop.requested());
    raise(SIGTERM);
    EXPECT_TRUE(stop.requested());
    EXPECT_TRUE(stop.requested());
}

TEST(StopSignal, a_signal_nobody_waited_for_does_not_end_the_program) {
    {
        util::StopSignal stop;
        raise(SIGINT);
    }
    SUCCEED();
}

TEST(WaitReadable, tells_input_timeout_and_stop_apart) {
    util::StopSignal stop;
    const Pipe pipe;
    const auto before = util::Clock::now();
    EXPECT_EQ(util::wait_readable(pipe.in.get(), stop, util::deadline_in(20ms)),
              util::Ready::timeout);
    EXPECT_GE(util::Clock::now() - before, 20ms);
    ASSERT_EQ(write(pipe.out.get(), "x", 1), 1);
    EXPECT_EQ(util::wait_readable(pipe.in.get(), stop, std::nullopt), util::Ready::input);
    raise(SIGTERM);
    EXPECT_EQ(util::wait_readable(pipe.in.get(), stop, std::nullopt), util::Ready::stop);
}

volatile std::sig_atomic_t alarms = 0;

TEST(WaitReadable, goes_on_after_a_signal_that_the_program_handles) {
    util::StopSignal stop;
    const Pipe pipe;
    struct sigaction own {
    }, before{};
    own.sa_handler = [](int) { alarms = alarms + 1; };
    sigaction(SIGALRM, &own, &before);
    constexpr itimerval every_5_ms{{0, 5'000}, {0, 5'000}}, never{};
    setitimer(ITIMER_REAL, &every_5_ms, nullptr);
    const auto begin = util::Clock::now();
    EXPECT_EQ(util::wait_readable(pipe.in.get(), stop, util::deadline_in(50ms)),
              util::Ready::timeout);
    EXPECT_GE(util::Clock::now() - begin, 50ms);
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_GT(alarms, 0);
}

TEST(Fd, closes_when_it_goes_and_moves_without_closing) {
    int raw = -1;
    {
        Pipe pipe;
        raw = pipe.in.get();
        util::Fd moved = std::move(pipe.in);
        EXPECT_FALSE(pipe.in);  // NOLINT(bugprone-use-after-move): tests the moved-from object
        EXPECT_EQ(moved.get(), raw);
        EXPECT_NE(fcntl(raw, F_GETFD), -1);
    }
    EXPECT_EQ(fcntl(raw, F_GETFD), -1);
}

TEST(Check, each_convention_throws_with_the_calls_name) {
    const auto text_of = [](auto&& call) -> std::string {
        try {
            call();
        } catch (const std::system_error& error) {
            return std::string(error.what()) + " #" + std::to_string(error.code().value());
        }
        return "nothing thrown";
    };
    EXPECT_EQ(text_of([] { util::check_rc(EINVAL, "ibv_modify_qp"); }),
              "ibv_modify_qp: Invalid argument #22");
    EXPECT_EQ(text_of([] {
                  errno = ENOMEM;
                  util::check_errno(-1, "rdma_listen");
              }),
              "rdma_listen: Cannot allocate memory #12");
    EXPECT_EQ(text_of([] {
                  errno = EACCES;
                  util::check_ptr(static_cast<int*>(nullptr), "ibv_open_device");
              }),
              "ibv_open_device: Permission denied #13");
    EXPECT_EQ(text_of([] { util::check_rc(0, "ibv_destroy_qp"); }), "nothing thrown");
}

}  // namespace
