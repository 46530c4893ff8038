#include "examples/07_secure_psn/random_psn.hpp"

#include <array>
#include <set>

#include <gtest/gtest.h>

namespace random_psn_test {

TEST(RandomPsn, has_24_bits_and_uses_all_of_them) {
    constexpr int draws = 4096;
    std::array<unsigned, 24> ones{};
    std::set<std::uint32_t> seen;
    for (int i = 0; i < draws; ++i) {
        const std::uint32_t psn = lesson07::random_psn();
        ASSERT_LE(psn, 0xffffffU);
        seen.insert(psn);
        for (std::size_t bit = 0; bit < ones.size(); ++bit)
            ones[bit] += psn >> bit & 1;
    }
    // Half of the draws, plus or minus seven standard deviations (32 each).
    constexpr unsigned half = draws / 2;
    for (const unsigned count : ones) {
        EXPECT_GT(count, half - 7 * 32);
        EXPECT_LT(count, half + 7 * 32);
    }
    // The expected number of equal pairs is one half. Twenty are extremely unlikely.
    EXPECT_GT(seen.size(), static_cast<std::size_t>(draws - 20));
}

}  // namespace random_psn_test
