// Lesson 21's window without a device: how it changes with the response times.
#include <gtest/gtest.h>

#include "examples/21_congestion/window.hpp"

namespace {

using namespace std::chrono_literals;
using lesson21::Window;

TEST(Window, that_is_fixed_stays_as_it_is) {
    Window window = Window::fixed(4);
    EXPECT_TRUE(window.has_room(3));
    EXPECT_FALSE(window.has_room(4));
    for (int i = 0; i < 100; ++i)
        window.answered(i * 1ms);
    EXPECT_EQ(window.size(), 4);
}

TEST(Window, that_adapts_grows_by_one_in_a_round_trip_while_answers_are_quick) {
    Window window = Window::adaptive(64);
    EXPECT_TRUE(window.has_room(0));
    EXPECT_FALSE(window.has_room(1)) << "it begins with one";
    window.answered(10ms);
    EXPECT_NEAR(window.size(), 2, 0.01);
    window.answered(10ms);
    window.answered(10ms);
    EXPECT_NEAR(window.size(), 3, 0.2);
    for (int i = 0; i < 10'000; ++i)
        window.answered(10ms);
    EXPECT_EQ(window.size(), 64) << "and has an end";
}

TEST(Window, that_adapts_shrinks_once_in_a_round_trip_when_answers_are_late) {
    Window window = Window::adaptive(64);
    for (int i = 0; i < 200; ++i)
        window.answered(10ms);
    const double before = window.size();
    ASSERT_GT(before, 10);
    window.answered(30ms);
    EXPECT_NEAR(window.size(), before * 0.7, 0.01);
    const double after = window.size();
    for (int i = 0; i < static_cast<int>(after) - 1; ++i)
        window.answered(30ms);
    EXPECT_EQ(window.size(), after) << "of the same round trip";
    for (int i = 0; i < 10'000; ++i)
        window.answered(30ms);
    EXPECT_EQ(window.size(), 1) << "and always sends one";
    EXPECT_TRUE(window.has_room(0));
    EXPECT_EQ(window.largest(), before);
}

}  // namespace
