// Blocking calls, and calls that run concurrently.
#include <atomic>
#include <future>
#include <memory>
#include <poll.h>
#include <stdexcept>

#include <gtest/gtest.h>

#include "examples/08_secure_multi_client/hardened/workers.hpp"

namespace lesson08_workers_test {

using lesson08::Workers;

// Takes results until `count` calls of done have been made.
void take(Workers& workers, const std::size_t& ended, std::size_t count) {
    while (ended < count) {
        pollfd readable{.fd = workers.fd(), .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&readable, 1, 10'000), 1) << "nothing ends";
        workers.take_results();
    }
}

TEST(Workers, a_result_comes_on_the_thread_that_takes_it) {
    Workers workers(2);
    std::thread::id called_on;
    std::thread::id done_on;
    std::size_t ended = 0;
    workers.submit(
        "a", [&] { called_on = std::this_thread::get_id(); },
        [&](const std::exception_ptr& error) {
            EXPECT_FALSE(error);
            done_on = std::this_thread::get_id();
            ++ended;
        });
    take(workers, ended, 1);
    EXPECT_EQ(done_on, std::this_thread::get_id());
    EXPECT_NE(called_on, done_on);
}

TEST(Workers, what_a_call_throws_is_its_result) {
    Workers workers(1);
    std::size_t ended = 0;
    workers.submit(
        "a", [] { throw std::runtime_error("no route"); },
        [&](const std::exception_ptr& error) {
            EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
            ++ended;
        });
    take(workers, ended, 1);
}

// The calls with one key block until those with the other key have finished. They may occupy only
// one thread.
TEST(Workers, whose_calls_block_delays_nobody_else) {
    Workers workers(2);
    std::promise<void> others_are_done;
    const std::shared_future<void> gate = others_are_done.get_future().share();
    std::atomic<int> blocked = 0;
    std::size_t blocking_ended = 0;
    std::size_t others_ended = 0;
    for (int i = 0; i < 8; ++i)
        workers.submit(
            "slow",
            [&, gate] {
                EXPECT_EQ(++blocked, 1) << "two at a time";
                gate.wait();
                --blocked;
            },
            [&](const std::exception_ptr&) { ++blocking_ended; });
    for (int i = 0; i < 3; ++i)
        workers.submit(
            "quick", [] {}, [&](const std::exception_ptr&) { ++others_ended; });
    take(workers, others_ended, 3);
    EXPECT_EQ(blocking_ended, 0U);
    others_are_done.set_value();
    take(workers, blocking_ended, 8);
}

// The call in progress ends when the destructor discards the waiting ones. Otherwise the test
// hangs.
TEST(Workers, what_has_not_begun_is_forgotten_at_the_end) {
    struct Forgotten {
        std::promise<void> promise;
        ~Forgotten() { promise.set_value(); }
        Forgotten() = default;
        Forgotten(const Forgotten&) = delete;
        Forgotten& operator=(const Forgotten&) = delete;
        Forgotten(Forgotten&&) = delete;
        Forgotten& operator=(Forgotten&&) = delete;
    };
    auto behind = std::make_shared<Forgotten>();
    std::promise<void> begun;
    int calls = 0;
    {
        Workers workers(1);
        workers.submit(
            "a",
            [&, forgotten = behind->promise.get_future().share()] {
                ++calls;
                begun.set_value();
                EXPECT_EQ(forgotten.wait_for(std::chrono::seconds(10)), std::future_status::ready);
            },
            [](const std::exception_ptr&) { ADD_FAILURE() << "nobody takes results"; });
        begun.get_future().wait();
        workers.submit(
            "a", [&, held = std::move(behind)] { ++calls; }, [](const std::exception_ptr&) {});
    }
    EXPECT_EQ(calls, 1);
}

}  // namespace lesson08_workers_test
