#include "emulator/load.hpp"

#include <sched.h>

#include <gtest/gtest.h>

namespace {

using emulator::Load;

class LoadTest : public testing::Test {
  protected:
    void TearDown() override {
        const sched_param priority{};
        sched_setscheduler(0, SCHED_OTHER, &priority);
    }

    // Forwards this many bytes in one window. Returns whether the scheduling policy changed.
    bool cross(std::size_t bytes) {
        now_ += Load::window;
        return load_.update(crossed_ += bytes, now_);
    }

    static constexpr std::size_t a_window = Load::much / 50;
    static_assert(Load::window * 50 == std::chrono::seconds(1));

    Load load_;
    util::Clock::time_point now_ = util::Clock::now();
    std::size_t crossed_ = 0;
};

TEST_F(LoadTest, lets_the_others_run_on_while_much_crosses_and_no_longer) {
    cross(0);
    EXPECT_FALSE(cross(a_window));
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_TRUE(cross(a_window + a_window / 10));
    EXPECT_TRUE(load_.is_high());
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
    EXPECT_FALSE(cross(10 * a_window));
    EXPECT_TRUE(cross(1000));
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

TEST_F(LoadTest, judges_whole_windows) {
    cross(0);
    EXPECT_FALSE(load_.update(crossed_ += 10 * a_window, now_ + Load::window / 2));
    EXPECT_TRUE(load_.update(crossed_, now_ + Load::window));
}

// After a pause, the rate of a burst is low, because it is averaged over the pause.
TEST_F(LoadTest, takes_a_single_burst_for_little) {
    cross(0);
    now_ += std::chrono::seconds(1);
    EXPECT_FALSE(cross(2 * a_window));
}

}  // namespace
