#include "trace/flow/gaps.hpp"

#include <gtest/gtest.h>

namespace gaps_test {

using flow::Gaps;
using wire::Psn;

TEST(Gaps, a_filled_gap_is_missing_no_more_and_still_was_a_gap) {
    Gaps gaps;
    gaps.note(Psn(10), 3);
    EXPECT_EQ(gaps.missing(), 3U);
    EXPECT_TRUE(gaps.fill(Psn(10), 3));
    EXPECT_EQ(gaps.count(), 1U);
    EXPECT_EQ(gaps.missing(), 0U);
    EXPECT_FALSE(gaps.fill(Psn(10), 1)) << "a second time it is a retransmission";
}

TEST(Gaps, are_filled_in_any_order) {
    for (const auto& order : {std::array{0U, 1U, 2U}, {2U, 1U, 0U}, {1U, 0U, 2U}, {1U, 2U, 0U}}) {
        Gaps gaps;
        gaps.note(Psn(0xffffff), 3);
        for (const unsigned i : order)
            EXPECT_TRUE(gaps.fill(Psn(0xffffff) + i, 1)) << i;
        EXPECT_EQ(gaps.missing(), 0U);
    }
}

TEST(Gaps, what_was_not_missing_fills_nothing) {
    Gaps gaps;
    gaps.note(Psn(10), 3);
    EXPECT_FALSE(gaps.fill(Psn(9), 1));
    EXPECT_FALSE(gaps.fill(Psn(13), 1));
    EXPECT_EQ(gaps.missing(), 3U);
}

TEST(Gaps, more_than_is_missing_fills_what_is) {
    Gaps gaps;
    gaps.note(Psn(10), 3);
    EXPECT_TRUE(gaps.fill(Psn(11), 100));
    EXPECT_EQ(gaps.missing(), 1U);
    EXPECT_TRUE(gaps.fill(Psn(10), 1));
}

TEST(Gaps, the_oldest_of_too_many_is_forgotten) {
    Gaps gaps;
    for (const unsigned psn : {10U, 20U, 30U, 40U})
        gaps.note(Psn(psn), 2);
    EXPECT_TRUE(gaps.fill(Psn(10), 2));
    gaps.note(Psn(50), 2);
    gaps.note(Psn(60), 2);
    EXPECT_FALSE(gaps.fill(Psn(20), 2));
    for (const unsigned psn : {30U, 40U, 50U, 60U})
        EXPECT_TRUE(gaps.fill(Psn(psn), 2)) << psn;
    EXPECT_EQ(gaps.count(), 6U);
    EXPECT_EQ(gaps.missing(), 2U);
}

TEST(Gaps, another_sequence_fills_no_gap_of_the_one_before) {
    Gaps gaps;
    gaps.note(Psn(10), 3);
    const Gaps::Open before = gaps.go_to({});
    EXPECT_FALSE(gaps.fill(Psn(10), 3));
    EXPECT_EQ(gaps.missing(), 3U);
    gaps.go_to(before);
    EXPECT_TRUE(gaps.fill(Psn(10), 3));
    EXPECT_EQ(gaps.missing(), 0U);
}

}  // namespace gaps_test
