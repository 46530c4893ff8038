#include "wire/psn.hpp"

#include <gtest/gtest.h>

namespace psn_test {

using wire::Psn;

TEST(Psn, keeps_24_bits_and_wraps) {
    EXPECT_EQ(Psn(0x1000000).value(), 0U);
    EXPECT_EQ((Psn(0xffffff) + 1).value(), 0U);
    EXPECT_EQ((Psn(0) - 1).value(), 0xffffffU);
    Psn psn(0xfffffe);
    psn += 3;
    EXPECT_EQ(psn, Psn(1));
}

TEST(Psn, distance_is_the_shorter_way_round) {
    EXPECT_EQ(distance(Psn(5), Psn(9)), 4);
    EXPECT_EQ(distance(Psn(9), Psn(5)), -4);
    EXPECT_EQ(distance(Psn(0xffffff), Psn(1)), 2);
    EXPECT_EQ(distance(Psn(1), Psn(0xffffff)), -2);
    EXPECT_EQ(distance(Psn(0), Psn(0x7fffff)), 0x7fffff);
    EXPECT_EQ(distance(Psn(0), Psn(0x800000)), -0x800000);
    EXPECT_EQ(distance(Psn(7), Psn(7)), 0);
}

TEST(Psn, before_and_after_hold_across_the_wrap) {
    EXPECT_TRUE(Psn(0xfffffe).is_before(Psn(3)));
    EXPECT_TRUE(Psn(3).is_after(Psn(0xfffffe)));
    EXPECT_FALSE(Psn(3).is_before(Psn(3)));
    EXPECT_FALSE(Psn(3).is_after(Psn(3)));
}

TEST(Psn, is_within_a_run_of_psns) {
    EXPECT_TRUE(Psn(0xffffff).is_within(Psn(0xfffffe), 4));
    EXPECT_TRUE(Psn(1).is_within(Psn(0xfffffe), 4));
    EXPECT_FALSE(Psn(2).is_within(Psn(0xfffffe), 4));
    EXPECT_FALSE(Psn(0xfffffd).is_within(Psn(0xfffffe), 4));
    EXPECT_FALSE(Psn(5).is_within(Psn(5), 0));
}

TEST(Psn, extended_is_the_nearest_with_the_same_24_bits) {
    EXPECT_EQ(wire::extend(Psn(5), 0), 5);
    EXPECT_EQ(wire::extend(Psn(0xffffff), 0), -1);
    EXPECT_EQ(wire::extend(Psn(1), 0xffffff), 0x1000001);
    EXPECT_EQ(wire::extend(Psn(0xffffff), 0x3000001), 0x2ffffff);
    EXPECT_EQ(wire::extend(Psn(2), -3), 2);
    EXPECT_EQ(wire::extend(Psn(0x7fffff), 0), 0x7fffff);
    EXPECT_EQ(wire::extend(Psn(0x800000), 0), -0x800000);
}

}  // namespace psn_test
