#include "trace/flow/table.hpp"

#include <algorithm>
#include <list>
#include <random>

#include <gtest/gtest.h>

namespace table_test {

using flow::no_index;
using flow::PoolIndex;
using flow::StreamKey;
using flow::StreamTable;

StreamKey key(std::uint32_t qpn) {
    return {.src = {.high = 0, .low = 1}, .dst = {.high = 0, .low = 2}, .dest_qpn = qpn};
}

TEST(StreamTable, finds_what_was_added_and_nothing_else) {
    StreamTable table(4);
    const PoolIndex one = table.add(key(1));
    const PoolIndex two = table.add(key(2));
    EXPECT_EQ(table.find(key(1)), one);
    EXPECT_EQ(table.find(key(2)), two);
    EXPECT_EQ(table.find(key(3)), no_index);
    EXPECT_EQ(table.size(), 2U);
}

TEST(StreamTable, each_part_of_a_key_tells_streams_apart) {
    const StreamKey base = key(1);
    std::vector<StreamKey> others(6, base);
    others[0].src.low = 7;
    others[1].dst.high = 7;
    others[2].dest_qpn = 7;
    others[3].src_qpn = 7;
    others[4].transport = wire::Transport::Uc;
    others[5].network = flow::Network::Grh;
    StreamTable table(8);
    table.add(base);
    for (const StreamKey& other : others) {
        EXPECT_EQ(table.find(other), no_index);
        table.add(other);
    }
    EXPECT_EQ(table.size(), 7U);
}

TEST(StreamTable, the_oldest_is_the_one_that_was_not_touched_for_longest) {
    StreamTable table(3);
    const PoolIndex one = table.add(key(1));
    const PoolIndex two = table.add(key(2));
    const PoolIndex three = table.add(key(3));
    EXPECT_TRUE(table.is_full());
    EXPECT_EQ(table.oldest(), one);
    table.touch(one);
    EXPECT_EQ(table.oldest(), two);
    table.remove(two);
    EXPECT_FALSE(table.is_full());
    EXPECT_EQ(table.oldest(), three);
    table.remove(three);
    table.remove(one);
    EXPECT_EQ(table.oldest(), no_index);
    EXPECT_EQ(table.size(), 0U);
}

TEST(StreamTable, a_closed_stream_stays_and_leaves_its_key_to_another) {
    StreamTable table(3);
    const PoolIndex old = table.add(key(1));
    table.close(old);
    EXPECT_EQ(table.find(key(1)), no_index);
    const PoolIndex young = table.add(key(1));
    EXPECT_EQ(table.find(key(1)), young);
    EXPECT_EQ(table.by_number(), (std::vector<PoolIndex>{old, young}));
    table.remove(old);
    EXPECT_EQ(table.find(key(1)), young) << "removing the closed one leaves the other's place";
    EXPECT_EQ(table.by_number(), std::vector<PoolIndex>{young});
}

// Compares the table with a list that has the same behaviour. The table is small, so that the keys
// often collide.
TEST(StreamTable, behaves_as_a_list_through_any_sequence_of_calls) {
    constexpr std::size_t capacity = 23;
    constexpr std::uint32_t keys = 60;
    struct Entry {
        std::uint32_t qpn;
        PoolIndex index;
        bool is_closed;
    };
    StreamTable table(capacity);
    std::list<Entry> model;  // oldest first
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
    const auto open = [&](std::uint32_t qpn) {
        return std::ranges::find_if(
            model, [&](const Entry& entry) { return entry.qpn == qpn && !entry.is_closed; });
    };
    for (int step = 0; step < 50'000; ++step) {
        const auto qpn = static_cast<std::uint32_t>(random() % keys);
        const auto entry = open(qpn);
        ASSERT_EQ(table.find(key(qpn)), entry == model.end() ? no_index : entry->index);
        if (entry == model.end()) {
            if (table.is_full()) {
                ASSERT_EQ(table.oldest(), model.front().index);
                table.remove(table.oldest());
                model.pop_front();
            }
            model.push_back({qpn, table.add(key(qpn)), false});
        } else if (random() % 8 == 0) {
            table.close(entry->index);
            entry->is_closed = true;
        } else if (random() % 8 == 0) {
            table.remove(entry->index);
            model.erase(entry);
        } else {
            table.touch(entry->index);
            model.splice(model.end(), model, entry);
        }
        ASSERT_EQ(table.size(), model.size());
    }
    for (std::uint32_t qpn = 0; qpn < keys; ++qpn)
        EXPECT_EQ(table.find(key(qpn)), open(qpn) == model.end() ? no_index : open(qpn)->index);
}

}  // namespace table_test
