// A blind attacker's odds, compared with values calculated by hand.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "examples/09_forged_packets/odds.hpp"
#include "examples/09_forged_packets/odds_table.hpp"

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

// The windows that rxe has, and the frames of the lab over IPv4.
const lesson09::Measured rxe{.write = {{0, 0, 7}, 138},
                             .ack = {{0, lesson09::highest_offset, 7}, 62},
                             .nak = {{0, 0, 7}, 62},
                             .read_response = {{0, 0, 7}, 126},
                             .short_write_bytes = 78,
                             .rate = 1000,
                             .are_indices_known = true};

TEST(Odds, each_attack_takes_the_time_of_its_own_frames) {
    std::map<std::string, std::string> at_100_gbit;
    for (const lesson09::OddsRow& row : lesson09::odds_of(rxe))
        at_100_gbit[std::string(row.what)] =
            lesson09::duration_text(row.odds.seconds(lesson09::line_rate(100e9, row.frame_bytes)));
    // 2^24 frames of 138 + 24 bytes: 217 ms. An ACK needs two frames of 62 + 24.
    EXPECT_EQ(at_100_gbit, (std::map<std::string, std::string>{
                               {"change memory: the PSN", "217 ms"},
                               {"change memory: PSN and QPN", "42 days"},
                               {"change memory: PSN and 8 bits of rkey", "56 s"},
                               {"change memory: PSN and 32 bits of rkey", "30 years"},
                               {"break the connection by a WRITE: PSN", "137 ms"},
                               {"complete a request by an ACK: PSN", "14 ns"},
                               {"break the connection by a NAK: PSN", "115 ms"},
                               {"respond to a READ: PSN", "201 ms"},
                               {"replay: until its PSN is used again", "217 ms"}}));
}

TEST(Odds, eight_bits_of_an_rkey_are_a_row_only_if_the_others_are_known) {
    lesson09::Measured unknown = rxe;
    unknown.are_indices_known = false;
    EXPECT_EQ(lesson09::odds_of(unknown).size(), lesson09::odds_of(rxe).size() - 1);
}

}  // namespace lesson09_odds_test
