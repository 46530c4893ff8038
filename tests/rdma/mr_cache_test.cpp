#include "rdma/mr_cache.hpp"

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using rdma::MrCache;
using Range = std::pair<std::size_t, std::size_t>;  // offset and length in the arena

// Memory regions of an arena. No device registers them; a list records the registrations.
class MrCacheTest : public testing::Test {
  protected:
    std::span<std::byte> at(std::size_t offset, std::size_t length) {
        return std::span(arena_).subspan(offset, length);
    }
    MrCache cache_of(std::uint64_t most_bytes) {
        return MrCache(most_bytes, [this](std::span<std::byte> memory) {
            if (is_refusing_)
                throw std::runtime_error("refused");
            const Range range{static_cast<std::size_t>(memory.data() - arena_.data()),
                              memory.size()};
            registrations_.push_back(range);
            registered_.insert(range);
            auto deregister = [this, range](const ibv_mr* mr) {
                registered_.erase(registered_.find(range));
                delete mr;
            };
            auto* mr = new ibv_mr{};
            mr->addr = memory.data();
            mr->length = memory.size();
            return std::shared_ptr<ibv_mr>(mr, deregister);
        });
    }

    std::vector<std::byte> arena_ = std::vector<std::byte>(10'000);
    std::vector<Range> registrations_;  // all so far, including deregistered ones
    std::multiset<Range> registered_;   // those not yet deregistered
    bool is_refusing_ = false;
};

TEST_F(MrCacheTest, registers_once_what_is_used_again) {
    MrCache cache = cache_of(1000);
    const auto* first = cache.take(at(0, 100)).get();
    EXPECT_EQ(cache.take(at(0, 100)).get(), first);
    EXPECT_EQ(registrations_, (std::vector<Range>{{0, 100}}));
    EXPECT_EQ(cache.counts().hits, 1u);
    EXPECT_EQ(cache.counts().misses, 1u);
    EXPECT_EQ(cache.bytes(), 100u);
}

TEST_F(MrCacheTest, a_part_of_a_region_is_a_hit) {
    MrCache cache = cache_of(1000);
    cache.take(at(100, 100));
    for (const auto& [offset, length] : {Range{100, 1}, Range{199, 1}, Range{120, 50}})
        EXPECT_EQ(cache.take(at(offset, length))->length, 100u);
    EXPECT_EQ(registrations_.size(), 1u);
}

TEST_F(MrCacheTest, neighbours_that_only_touch_stay_apart) {
    MrCache cache = cache_of(1000);
    cache.take(at(100, 100));
    cache.take(at(200, 100));
    cache.take(at(0, 100));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {100, 100}, {200, 100}}));
    EXPECT_EQ(cache.counts().merges, 0u);
}

TEST_F(MrCacheTest, an_overlap_becomes_one_region_with_what_it_overlaps) {
    MrCache cache = cache_of(1000);
    cache.take(at(0, 100));
    cache.take(at(200, 100));
    const auto mr = cache.take(at(99, 102));
    EXPECT_EQ(mr->addr, arena_.data());
    EXPECT_EQ(mr->length, 300u);
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 300}}));
    EXPECT_EQ(cache.counts().merges, 2u);
    EXPECT_EQ(cache.bytes(), 300u);
    EXPECT_EQ(cache.take(at(250, 50)).get(), mr.get());
}

TEST_F(MrCacheTest, a_range_around_a_region_takes_its_place) {
    MrCache cache = cache_of(1000);
    cache.take(at(100, 100));
    cache.take(at(0, 300));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 300}}));
    EXPECT_EQ(cache.bytes(), 300u);
}

TEST_F(MrCacheTest, a_region_in_use_outlives_the_one_that_takes_its_place) {
    MrCache cache = cache_of(1000);
    auto user = cache.take(at(0, 100));
    cache.take(at(50, 100));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {0, 150}}));
    user.reset();
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 150}}));
}

TEST_F(MrCacheTest, evicts_what_was_not_used_for_longest) {
    MrCache cache = cache_of(300);
    for (const std::size_t offset : {0, 100, 200})
        cache.take(at(offset, 100));
    cache.take(at(0, 100));
    cache.take(at(300, 100));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {200, 100}, {300, 100}}));
    cache.take(at(400, 150));
    EXPECT_EQ(registered_, (std::multiset<Range>{{300, 100}, {400, 150}}));
    EXPECT_EQ(cache.counts().evictions, 3u);
    EXPECT_EQ(cache.bytes(), 250u);
}

TEST_F(MrCacheTest, deregisters_before_it_registers_in_the_place) {
    std::size_t most = 0;
    MrCache cache(100, [&](std::span<std::byte>) {
        most = std::max(most, registered_.size());
        registered_.insert({0, 0});
        return std::shared_ptr<ibv_mr>(new ibv_mr{}, [this](const ibv_mr* mr) {
            registered_.erase(registered_.begin());
            delete mr;
        });
    });
    for (const std::size_t offset : {0, 100, 200})
        cache.take(at(offset, 100));
    EXPECT_EQ(most, 0u);
}

TEST_F(MrCacheTest, never_evicts_what_is_in_use) {
    MrCache cache = cache_of(300);
    const auto user = cache.take(at(0, 100));
    for (std::size_t offset = 100; offset < 1000; offset += 100)
        cache.take(at(offset, 100));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {800, 100}, {900, 100}}));
    EXPECT_EQ(cache.take(at(0, 100)).get(), user.get());
}

TEST_F(MrCacheTest, keeps_to_its_bound_when_all_is_in_use) {
    MrCache cache = cache_of(200);
    const auto a = cache.take(at(0, 100));
    const auto b = cache.take(at(100, 100));
    auto c = cache.take(at(200, 100));
    EXPECT_EQ(cache.bytes(), 200u);
    c.reset();
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {100, 100}}));
}

TEST_F(MrCacheTest, evicts_nothing_for_what_would_not_fit_anyway) {
    MrCache cache = cache_of(200);
    cache.take(at(0, 100));
    cache.take(at(1000, 201));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}}));
    EXPECT_EQ(cache.counts().evictions, 0u);
}

TEST_F(MrCacheTest, evicts_nothing_where_what_is_in_use_leaves_no_room) {
    MrCache cache = cache_of(300);
    const auto user = cache.take(at(0, 200));
    cache.take(at(200, 100));
    cache.take(at(300, 101));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 200}, {200, 100}}));
    EXPECT_EQ(cache.counts().evictions, 0u);
}

TEST_F(MrCacheTest, forgets_every_region_with_a_byte_of_unmapped_memory) {
    MrCache cache = cache_of(1000);
    for (const std::size_t offset : {0, 100, 200, 300})
        cache.take(at(offset, 100));
    cache.forget(at(199, 2));
    EXPECT_EQ(registered_, (std::multiset<Range>{{0, 100}, {300, 100}}));
    EXPECT_EQ(cache.counts().forgotten, 2u);
    cache.take(at(100, 100));
    EXPECT_EQ(registrations_.size(), 5u);
}

TEST_F(MrCacheTest, forgets_nothing_beside_the_unmapped_memory) {
    MrCache cache = cache_of(1000);
    cache.take(at(100, 100));
    cache.forget(at(0, 100));
    cache.forget(at(200, 100));
    EXPECT_EQ(cache.regions(), 1u);
}

TEST_F(MrCacheTest, does_not_give_out_again_what_is_unmapped_while_in_use) {
    MrCache cache = cache_of(1000);
    auto user = cache.take(at(0, 100));
    cache.forget(at(0, 100));
    EXPECT_NE(cache.take(at(0, 100)).get(), user.get());
    EXPECT_EQ(registered_.size(), 2u);
    user.reset();
    EXPECT_EQ(registered_.size(), 1u);
}

TEST_F(MrCacheTest, is_whole_after_a_registration_was_refused) {
    MrCache cache = cache_of(200);
    cache.take(at(0, 100));
    is_refusing_ = true;
    EXPECT_THROW(cache.take(at(200, 100)), std::runtime_error);
    is_refusing_ = false;
    EXPECT_EQ(cache.bytes(), 100u);
    EXPECT_EQ(cache.take(at(200, 100))->length, 100u);
    EXPECT_EQ(cache.bytes(), 200u);
}

TEST_F(MrCacheTest, lets_go_of_everything_at_its_end) {
    { cache_of(1000).take(at(0, 100)); }
    EXPECT_TRUE(registered_.empty());
}

}  // namespace
