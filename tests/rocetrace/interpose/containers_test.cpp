// What the interposing library uses instead of the program's memory, locks and clock.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/clock.hpp"
#include "rocetrace/interpose/pointer_map.hpp"
#include "rocetrace/interpose/queue_pair.hpp"

namespace containers_test {

TEST(PointerMap, finds_what_a_map_of_the_standard_library_finds) {
    std::mt19937 random(1);
    interpose::PointerMap<int> map;
    std::map<std::uint64_t, int*> expected;
    std::array<int, 8> values{};
    EXPECT_EQ(map.find(std::uint64_t{5}), nullptr);
    map.erase(std::uint64_t{5}, values.data());  // there is no table yet
    for (unsigned step = 0; step < 20000; ++step) {
        const std::uint64_t key = 2 + random() % (step < 10000 ? 400 : 40);
        int* value = &values.at(random() % values.size());
        if (random() % 3 != 0) {
            ASSERT_TRUE(map.insert(key, value));
            expected[key] = value;
        } else {
            map.erase(key, value);
            if (expected.contains(key) && expected[key] == value)
                expected.erase(key);
        }
        ASSERT_EQ(map.find(key), expected.contains(key) ? expected[key] : nullptr) << step;
    }
    for (std::uint64_t key = 2; key < 450; ++key)
        ASSERT_EQ(map.find(key), expected.contains(key) ? expected[key] : nullptr) << key;
}

TEST(PointerMap, has_no_value_before_the_first_insertion) {
    interpose::PointerMap<int> map;
    int value = 0;
    EXPECT_EQ(map.find(&value), nullptr);
    EXPECT_TRUE(map.insert(&value, &value));
    EXPECT_EQ(map.find(&value), &value);
    map.erase(&value, nullptr);  // another value: the key stays
    EXPECT_EQ(map.find(&value), &value);
    map.erase(&value, &value);
    EXPECT_EQ(map.find(&value), nullptr);
}

// One thread moves a key through the slots of others, so that its slot gets another key again and
// again.
TEST(PointerMap, a_lookup_finds_the_value_of_its_key_or_none) {
    constexpr int steps = 200000;
    interpose::PointerMap<const std::uint64_t> map;
    std::array<std::uint64_t, 32> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys.at(i) = 2 + i;
    std::atomic<bool> done{false};
    std::thread changing([&] {
        std::mt19937 random(1);
        for (int i = 0; i < steps; ++i) {
            const std::uint64_t& key = keys.at(random() % keys.size());
            if (random() % 2 == 0)
                map.insert(key, &key);
            else
                map.erase(key, &key);
        }
        done = true;
    });
    std::size_t wrong = 0;
    while (!done)
        for (const std::uint64_t key : keys)
            if (const std::uint64_t* found = map.find(key))
                wrong += static_cast<std::size_t>(*found != key);
    changing.join();
    EXPECT_EQ(wrong, 0U);
}

TEST(Arena, blocks_are_zeroed_aligned_and_apart) {
    struct Block {
        unsigned char* at;
        std::size_t bytes;
        unsigned char mark;
    };
    std::mt19937 random(1);
    std::vector<Block> blocks;
    for (unsigned i = 0; i < 2000; ++i) {
        const std::size_t bytes = 1 + random() % (i % 50 == 0 ? 100000 : 2000);
        auto* at = static_cast<unsigned char*>(interpose::take_memory(bytes));
        ASSERT_NE(at, nullptr);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
        ASSERT_TRUE(std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0; }));
        blocks.push_back({at, bytes, static_cast<unsigned char>(1 + i % 255)});
        std::memset(at, blocks.back().mark, bytes);
        if (random() % 2 != 0) {
            std::swap(blocks.at(random() % blocks.size()), blocks.back());
            const Block given = blocks.back();
            ASSERT_TRUE(std::all_of(given.at, given.at + given.bytes,
                                    [&](unsigned char byte) { return byte == given.mark; }));
            interpose::give_memory(given.at, given.bytes);
            blocks.pop_back();
        }
    }
    for (const Block& block : blocks) {
        EXPECT_TRUE(std::all_of(block.at, block.at + block.bytes,
                                [&](unsigned char byte) { return byte == block.mark; }));
        interpose::give_memory(block.at, block.bytes);
    }
    interpose::give_memory(nullptr, 64);
}

TEST(Arena, gives_a_block_again_to_a_request_of_about_its_size) {
    void* first = interpose::take_memory(700);
    interpose::give_memory(first, 700);
    void* second = interpose::take_memory(1024);
    EXPECT_EQ(second, first);
    interpose::give_memory(second, 1024);
    void* small = interpose::take_memory(1);
    interpose::give_memory(small, 1);
    EXPECT_EQ(interpose::take_memory(64), small);
    interpose::give_memory(small, 64);
}

TEST(Arena, makes_objects_and_destroys_them) {
    struct Counted {
        explicit Counted(int* count = nullptr) : count_(count) {}
        ~Counted() {
            if (count_ != nullptr)
                ++*count_;
        }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        Counted(Counted&&) = delete;
        Counted& operator=(Counted&&) = delete;
        int* count_;
    };
    int destroyed = 0;
    auto* made = interpose::make<Counted>();
    ASSERT_NE(made, nullptr);
    made->count_ = &destroyed;
    interpose::unmake(made);
    interpose::unmake(static_cast<Counted*>(nullptr));
    EXPECT_EQ(destroyed, 1);
}

TEST(Lock, is_held_by_one_thread_at_a_time) {
    interpose::Lock lock;
    std::uint64_t count = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k < 20000; ++k) {
                const interpose::Guard guard(lock);
                ++count;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(count, 80000U);
}

TEST(Clock, of_the_kernel_is_between_two_readings_of_it) {
    interpose::Clock clock;
    const std::int64_t before = interpose::now();
    const std::int64_t read = clock.read();
    EXPECT_GE(read, before);
    EXPECT_LE(read, interpose::now());
    EXPECT_LT(std::abs(before / 1'000'000'000 - time(nullptr)), 2);
}

// Not every time is as accurate: the thread may lose the CPU between two readings.
TEST(Clock, of_the_counter_is_mostly_within_a_tenth_of_a_millisecond_and_does_not_go_back) {
    interpose::Clock clock(true);
    std::vector<std::int64_t> errors;
    std::int64_t last = 0;
    const std::int64_t end = interpose::now() + 30'000'000;
    for (std::int64_t before = 0; before < end;) {
        before = interpose::now();
        const std::int64_t read = clock.read();
        const std::int64_t after = interpose::now();
        ASSERT_GE(read, last);
        last = read;
        errors.push_back(std::max({std::int64_t{0}, before - read, read - after}));
    }
    std::ranges::nth_element(errors,
                             errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
    EXPECT_LT(errors[errors.size() / 2], 100'000);
}

// Clocks of a thread that loses the CPU for 3 ms now and then, just before it reads the kernel's.
struct InterruptedClocks {
    static inline std::int64_t true_ns = 0;
    static inline int until_interruption = 0;

    static std::int64_t now() {
        true_ns += 1'000;
        if (--until_interruption <= 0) {
            until_interruption = 7;
            true_ns += 3'000'000;
        }
        return true_ns;
    }
    static std::uint64_t count(unsigned& cpu) {
        cpu = 0;
        true_ns += 20;
        return static_cast<std::uint64_t>(true_ns) * 3;  // 3 GHz
    }
};

// Otherwise the pause would count as the counter's speed, and a post be logged after its packets.
TEST(Clock, of_the_counter_is_right_after_an_interruption) {
    interpose::ClockOf<InterruptedClocks> clock(true);
    std::int64_t last = 0;
    for (int i = 0; i < 20'000; ++i) {
        InterruptedClocks::true_ns += 50'000;
        const std::int64_t read = clock.read();
        ASSERT_LT(std::abs(read - InterruptedClocks::true_ns), 200'000) << i;
        ASSERT_GE(read, last);
        last = read;
    }
}

TEST(QueuePairs, give_back_the_memory_of_their_batches) {
    const auto mapped_pages = [] {
        std::ifstream file("/proc/self/statm");
        long pages = 0;
        file >> pages;
        return pages;
    };
    const auto use = [] {
        interpose::TracedQueuePair* pair = interpose::make_queue_pair(4096, 1, true);
        ASSERT_NE(pair, nullptr);
        interpose::retire_queue_pair(pair);
    };
    use();
    const long before = mapped_pages();
    for (int i = 0; i < 50; ++i)
        use();
    EXPECT_LT(mapped_pages() - before, 100);
}

}  // namespace containers_test
