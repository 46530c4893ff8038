// A blind attacker's odds, compared with values calculated by hand.
#include <gtest/gtest.h>

#include "examples/09_forged_packets/odds.hpp"

namespace lesson09_odds_test {

TEST(Odds, packets_are_the_space_over_the_hits) {
    EXPECT_DOUBLE_EQ((lesson09::Odds{16777216, 1}).packets(), 16777216);
    EXPECT_DOUBLE_EQ((lesson09::Odds{16777216, 8388608}).packets(), 2);
    EXPECT_DOUBLE_EQ((lesson09::Odds{16777216, 1}).seconds(16777216), 1);
}

TEST(Odds, a_link_carries_24_bytes_more_than_each_frame) {
    // 10 Gbit/s of the shortest frames, 84 bytes each on the wire: 14.88 million frames per second.
    EXPECT_NEAR(lesson09::line_rate(10e9, 60), 14'880'952, 1);
    EXPECT_NEAR(lesson09::line_rate(10e9, 20), 14'880'952, 1);
    EXPECT_NEAR(lesson09::line_rate(100e9, 1226), 10e6, 1);
}

TEST(Odds, durations_read_as_people_say_them) {
    EXPECT_EQ(lesson09::duration_text(26e-9), "26 ns");
    EXPECT_EQ(lesson09::duration_text(0.217), "217 ms");
    EXPECT_EQ(lesson09::duration_text(1.96), "1960 ms");
    EXPECT_EQ(lesson09::duration_text(2.24), "2.2 s");
    EXPECT_EQ(lesson09::duration_text(119), "119 s");
    EXPECT_EQ(lesson09::duration_text(1398), "23 min");
    EXPECT_EQ(lesson09::duration_text(90'000), "25 h");
    EXPECT_EQ(lesson09::duration_text(20.0 * 365.25 * 86400), "20 years");
    EXPECT_EQ(lesson09::duration_text(2.5e5 * 365.25 * 86400), "2.5e+05 years");
}

TEST(Odds, counts_are_written_out_while_that_helps) {
    EXPECT_EQ(lesson09::count_text(2), "2");
    EXPECT_EQ(lesson09::count_text(4294967296), "4294967296");
    EXPECT_EQ(lesson09::count_text(281474976710656), "2.8e+14");
}

}  // namespace lesson09_odds_test
