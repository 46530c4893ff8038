// Lesson 26 without a device: the shares of the ranks add up to what one program alone computes.
#include <gtest/gtest.h>

#include "examples/26_all_reduce/model.hpp"

namespace {

using lesson26::Data;
using lesson26::Vector;

TEST(Model26, shares_of_the_ranks_add_up_to_the_whole) {
    const Data data;
    Vector weights(lesson26::features, 0.01);
    const Vector whole = data.gradient(weights, 0, 1);
    ASSERT_EQ(whole.size(), 2048U);
    for (int ranks = 2; ranks <= 7; ++ranks) {
        Vector sums(lesson26::numbers);
        for (int rank = 0; rank < ranks; ++rank) {
            const Vector share = data.gradient(weights, rank, ranks);
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] += share[i];
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            ASSERT_NEAR(sums[i], whole[i], 1e-9) << ranks << " ranks, number " << i;
    }
}

TEST(Model26, learns) {
    const Vector losses = lesson26::losses_alone(Data(), 5);
    ASSERT_EQ(losses.size(), 5U);
    EXPECT_NEAR(losses.front(), 0.693147, 1e-6) << "ln 2: nothing is known yet";
    for (std::size_t i = 1; i < losses.size(); ++i)
        EXPECT_LT(losses[i], losses[i - 1]);
}

}  // namespace
