// Rings between a writing and a reading thread.
#include "rocetrace/tracelog/ring.hpp"

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ring_test {

using tracelog::Header;
using tracelog::Kind;

class Ring : public testing::Test {
  protected:
    static constexpr std::uint64_t capacity = 4096;

    bool write(std::uint32_t size, std::int64_t number) {
        void* place = writer_.reserve(size);
        if (place == nullptr) {
            writer_.drop(1);
            return false;
        }
        const Header header{size, Kind::event, 0, number};
        std::memcpy(place, &header, sizeof header);
        writer_.publish();
        return true;
    }

    tracelog::RingHeader header_{};
    alignas(8) std::array<std::byte, capacity> data_{};
    tracelog::RingWriter writer_{&header_, data_.data(), capacity};
    tracelog::RingReader reader_{&header_, data_.data(), capacity};
};

TEST_F(Ring, gives_back_what_was_written_across_its_end) {
    std::int64_t next = 0;
    std::int64_t expected = 0;
    for (int round = 0; round < 1000; ++round) {
        for (int i = 0; i < round % 7; ++i)
            ASSERT_TRUE(write(16U + 8U * static_cast<std::uint32_t>((round + i) % 40), next++));
        reader_.look();
        while (const auto record = reader_.front()) {
            ASSERT_EQ(record.t_ns, expected++);
            reader_.pop(record);
        }
        reader_.release();
    }
    EXPECT_EQ(next, expected);
    EXPECT_FALSE(reader_.is_damaged());
}

TEST_F(Ring, counts_what_it_has_no_room_for) {
    std::uint64_t taken = 0;
    for (int i = 0; i < 100; ++i)
        taken += write(64, i);
    EXPECT_EQ(taken, capacity / 64);
    EXPECT_EQ(reader_.newly_dropped(), 100 - taken);
    EXPECT_EQ(reader_.newly_dropped(), 0U);
    reader_.look();
    EXPECT_EQ(reader_.front().t_ns, 0);
}

TEST_F(Ring, does_not_show_what_was_taken_back) {
    const std::uint64_t end = writer_.end();
    ASSERT_NE(writer_.reserve(64), nullptr);
    writer_.rewind(end);
    ASSERT_TRUE(write(16, 7));
    reader_.look();
    ASSERT_TRUE(reader_.front());
    EXPECT_EQ(reader_.front().size, 16U);
}

TEST_F(Ring, with_a_size_that_cannot_be_is_not_read_any_more) {
    ASSERT_TRUE(write(64, 1));
    reinterpret_cast<Header*>(data_.data())->size = 12;
    reader_.look();
    EXPECT_FALSE(reader_.front());
    EXPECT_TRUE(reader_.is_damaged());
    ASSERT_TRUE(write(64, 2));
    reader_.look();
    EXPECT_FALSE(reader_.front());
}

TEST_F(Ring, keeps_to_the_size_of_a_record_that_it_has_checked) {
    ASSERT_TRUE(write(64, 1));
    ASSERT_TRUE(write(64, 2));
    reader_.look();
    const auto first = reader_.front();
    reinterpret_cast<Header*>(data_.data())->size = 0xffffffff;
    reader_.pop(first);
    EXPECT_EQ(reader_.front().t_ns, 2);
}

TEST_F(Ring, whose_header_is_overwritten_is_not_read_and_its_losses_do_not_count) {
    ASSERT_TRUE(write(64, 1));
    header_.dropped.store(5);
    EXPECT_EQ(reader_.newly_dropped(), 5U);
    header_.dropped.store(UINT64_MAX);
    EXPECT_EQ(reader_.newly_dropped(), 0U);
    EXPECT_TRUE(reader_.is_damaged());
    for (const std::uint64_t head : {UINT64_MAX, std::uint64_t{capacity} + 8}) {
        header_.head.store(head);
        tracelog::RingReader reader{&header_, data_.data(), capacity};
        reader.look();
        EXPECT_FALSE(reader.front());
        EXPECT_TRUE(reader.is_damaged());
    }
}

TEST_F(Ring, works_between_two_threads) {
    constexpr std::int64_t records = 100000;
    std::thread other([&] {
        for (std::int64_t i = 0; i < records;)
            i += write(16U + 8U * static_cast<std::uint32_t>(i % 9), i);
    });
    for (std::int64_t expected = 0; expected < records;) {
        reader_.look();
        while (const auto record = reader_.front()) {
            ASSERT_EQ(record.t_ns, expected++);
            reader_.pop(record);
        }
        reader_.release();
    }
    other.join();
}

}  // namespace ring_test
