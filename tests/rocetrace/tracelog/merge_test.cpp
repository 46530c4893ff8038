#include "rocetrace/tracelog/merge.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace merge_test {

using tracelog::RingHeader;
using tracelog::RingWriter;

constexpr std::int64_t all_times = std::numeric_limits<std::int64_t>::max();

// A process with two threads, and the order in which their records are taken.
class Merge : public testing::Test {
  protected:
    static constexpr std::uint64_t capacity = 4096;

    Merge() {
        header_->magic = tracelog::RegionHeader::expected_magic;
        header_->ring_bytes = ring_bytes;
        header_->rings = 2;
        for (std::uint32_t thread = 0; thread < 2; ++thread) {
            auto* ring = new (memory_.data() + tracelog::RegionHeader::bytes + thread * ring_bytes)
                RingHeader{};
            writers_.emplace_back(
                ring, reinterpret_cast<std::byte*>(ring) + tracelog::ring_header_bytes, capacity);
            header_->begun.store(thread + 1);
            auto* name =
                static_cast<tracelog::Thread*>(writers_.back().reserve(sizeof(tracelog::Thread)));
            *name = {{sizeof *name, tracelog::Kind::thread, 0, 0}, thread, {}};
            writers_.back().publish();
        }
    }

    void write(std::uint32_t thread, std::int64_t t_ns) {
        auto* record =
            static_cast<tracelog::PostRecv*>(writers_[thread].reserve(sizeof(tracelog::PostRecv)));
        *record = {{sizeof *record, tracelog::Kind::post_recv, 0, t_ns}, 0, 0, 0};
        writers_[thread].publish();
    }

    // Returns the records taken. "0:5" is the record that thread 0 wrote at time 5.
    std::vector<std::string> take(std::int64_t until_ns) {
        taken_.clear();
        merge_.take(region_, until_ns);
        return taken_;
    }

    static constexpr std::uint64_t ring_bytes = capacity + tracelog::ring_header_bytes;
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::vector<Page> pages_ = std::vector<Page>(1 + 2 * ring_bytes / sizeof(Page));
    std::span<std::byte> memory_ = std::as_writable_bytes(std::span(pages_));
    tracelog::RegionHeader* header_ = new (memory_.data()) tracelog::RegionHeader{};
    tracelog::Region region_{header_, 1};
    std::vector<RingWriter> writers_;
    std::vector<std::string> taken_;
    tracelog::Merge merge_{[this](std::span<const std::byte> record, const auto& writer) {
        const auto* header = reinterpret_cast<const tracelog::Header*>(record.data());
        taken_.push_back(std::to_string(writer.tid) + ":" + std::to_string(header->t_ns));
    }};
};

using Taken = std::vector<std::string>;

TEST_F(Merge, shows_the_command_line_with_spaces_between_its_words) {
    EXPECT_EQ(region_.command(), "");
    std::ranges::copy(std::string_view("sh\0-c\0true && true", 18), header_->command);
    EXPECT_EQ(region_.command(), "sh -c true && true");
    std::ranges::fill(header_->command, 'a');
    EXPECT_EQ(region_.command(), std::string(sizeof header_->command, 'a'));
}

TEST_F(Merge, takes_what_two_threads_wrote_in_the_order_of_time) {
    for (const std::int64_t t_ns : {1, 4, 5})
        write(0, t_ns);
    for (const std::int64_t t_ns : {2, 3, 6})
        write(1, t_ns);
    EXPECT_EQ(take(all_times), (Taken{"0:1", "1:2", "1:3", "0:4", "0:5", "1:6"}));
    EXPECT_EQ(take(all_times), Taken{});
}

TEST_F(Merge, leaves_what_is_later_and_says_when_that_was) {
    EXPECT_FALSE(merge_.earliest_left());
    write(0, 1);
    write(0, 20);
    write(1, 10);
    EXPECT_EQ(take(5), Taken{"0:1"});
    EXPECT_EQ(merge_.earliest_left(), 10);
    write(1, 30);
    EXPECT_EQ(take(20), (Taken{"1:10", "0:20"}));
    EXPECT_EQ(merge_.earliest_left(), 30);
    EXPECT_EQ(take(all_times), Taken{"1:30"});
    EXPECT_FALSE(merge_.earliest_left());
}

}  // namespace merge_test
