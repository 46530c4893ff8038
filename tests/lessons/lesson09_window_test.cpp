// The search for the accepted PSNs, with the minimum number of tries.
#include <set>

#include <gtest/gtest.h>

#include "examples/09_forged_packets/window.hpp"
#include "support/error_text.hpp"

namespace lesson09_window_test {

lesson09::Window measured(std::int32_t lowest, std::int32_t highest) {
    std::set<std::int32_t> tried;
    return lesson09::measure_window([&](std::int32_t offset) {
        EXPECT_TRUE(tried.insert(offset).second) << offset << " was tried twice";
        EXPECT_GE(offset, lesson09::lowest_offset);
        EXPECT_LE(offset, lesson09::highest_offset);
        return lowest <= offset && offset <= highest;
    });
}

TEST(Window, finds_both_ends_wherever_they_are) {
    for (const std::int32_t lowest :
         {lesson09::lowest_offset, -1234567, -1001, -1000, -999, -2, -1, 0})
        for (const std::int32_t highest :
             {0, 1, 2, 999, 1000, 1001, 7654321, lesson09::highest_offset}) {
            const lesson09::Window window = measured(lowest, highest);
            EXPECT_EQ(window.lowest, lowest);
            EXPECT_EQ(window.highest, highest);
            EXPECT_EQ(window.size(), static_cast<std::uint32_t>(highest - lowest) + 1);
            EXPECT_LE(window.probes, 7U + 2 * 23);
        }
}

TEST(Window, one_psn_alone_takes_seven_tries) {
    EXPECT_EQ(measured(0, 0).probes, 7U);
    EXPECT_EQ(measured(0, 0).size(), 1U);
    EXPECT_EQ(measured(lesson09::lowest_offset, lesson09::highest_offset).size(),
              lesson09::psn_count);
}

TEST(Window, may_be_empty) {
    const lesson09::Window none = lesson09::measure_window([](std::int32_t) { return false; });
    EXPECT_EQ(none.size(), 0U);
}

TEST(Window, with_a_hole_is_none) {
    EXPECT_NE(support::error_text([] {
                  lesson09::measure_window(
                      [](std::int32_t offset) { return offset == 0 || offset == 1000; });
              }),
              "");
    EXPECT_NE(support::error_text([] {
                  lesson09::measure_window([](std::int32_t offset) { return offset == 1; });
              }),
              "");
}

}  // namespace lesson09_window_test
