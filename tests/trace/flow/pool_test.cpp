#include "trace/flow/pool.hpp"

#include <gtest/gtest.h>

#include "support/allocation_count.hpp"

namespace pool_test {

struct Object {
    int value = 42;
};
using Objects = flow::Pool<Object>;

TEST(Pool, gives_as_many_as_it_has_and_then_none) {
    Objects pool(2);
    const auto first = pool.take();
    const auto second = pool.take();
    EXPECT_NE(first, second);
    EXPECT_EQ(pool.take(), flow::no_index);
    EXPECT_EQ(pool.in_use(), 2U);
    EXPECT_EQ(pool.capacity(), 2U);
}

TEST(Pool, what_comes_back_is_given_again_as_new) {
    Objects pool(1);
    const auto index = pool.take();
    pool[index].value = 7;
    pool.give_back(index);
    EXPECT_EQ(pool.in_use(), 0U);
    EXPECT_EQ(pool.take(), index);
    EXPECT_EQ(pool[index].value, 42);
}

TEST(Pool, allocates_only_at_the_beginning) {
    constexpr std::size_t capacity = 1000;
    Objects pool(capacity);
    const support::AllocationCount allocations;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < capacity; ++i)
            pool.take();
        for (std::size_t i = 0; i < capacity; ++i)
            pool.give_back(static_cast<flow::PoolIndex>(i));
    }
    EXPECT_EQ(allocations.count(), 0U);
}

}  // namespace pool_test
