#include "util/deadlines.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

TEST(Deadlines, the_nearest_is_known_and_the_past_ones_come_in_order) {
    const auto now = util::Clock::now();
    util::Deadlines<std::string> deadlines;
    EXPECT_FALSE(deadlines.nearest());
    deadlines.set("late", now + 3s);
    deadlines.set("early", now + 1s);
    deadlines.set("never", now + 9s);
    EXPECT_EQ(deadlines.nearest(), now + 1s);
    EXPECT_EQ(deadlines.take_past(now + 999ms), std::nullopt);
    EXPECT_EQ(deadlines.take_past(now + 5s), "early");
    EXPECT_EQ(deadlines.take_past(now + 5s), "late");
    EXPECT_EQ(deadlines.take_past(now + 5s), std::nullopt);
    EXPECT_TRUE(deadlines.has("never"));
    EXPECT_FALSE(deadlines.has("late"));
}

TEST(Deadlines, a_key_has_one_at_a_time) {
    const auto now = util::Clock::now();
    util::Deadlines<int> deadlines;
    deadlines.set(1, now + 1s);
    deadlines.set(1, now + 2s);
    EXPECT_EQ(deadlines.take_past(now + 1s), std::nullopt);
    deadlines.clear(1);
    EXPECT_FALSE(deadlines.nearest());
    EXPECT_EQ(deadlines.take_past(now + 9s), std::nullopt);
}

}  // namespace
