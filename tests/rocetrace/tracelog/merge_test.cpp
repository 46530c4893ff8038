#include "rocetrace/tracelog/merge.hpp"

#include <algorithm>
#include <cstring>
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
        *record = {{sizeof *record, tracelog::Kind::post_recv, 0, t_ns}, 0, 0, 0, {}};
        writers_[thread].publish();
    }

    void write_event(std::uint32_t thread, std::int64_t t_ns) {
        const tracelog::Header record{sizeof record, tracelog::Kind::event, 0, t_ns};
        writers_[thread].put(&record, sizeof record);
        writers_[thread].publish();
    }

    // The thread is in these calls, of which the last one is the innermost.
    void open(std::uint32_t thread, std::initializer_list<std::int64_t> begins_ns,
              bool waits = false) {
        RingHeader& ring = *writers_[thread].header();
        std::uint32_t count = 0;
        for (const std::int64_t begin_ns : begins_ns) {
            tracelog::OpenCallSlot& slot = ring.slots[count++];
            slot.size = 8;
            slot.waits = waits;
            slot.begin_ns = begin_ns;
        }
        ring.open_calls = count;
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
    std::vector<Page> pages_ =
        std::vector<Page>((tracelog::RegionHeader::bytes + 2 * ring_bytes) / sizeof(Page));
    std::span<std::byte> memory_ = std::as_writable_bytes(std::span(pages_));
    tracelog::RegionHeader* header_ = new (memory_.data()) tracelog::RegionHeader{
        .magic = tracelog::RegionHeader::expected_magic, .ring_bytes = ring_bytes, .rings = 2};
    tracelog::Region region_{header_, 1};
    std::vector<RingWriter> writers_;
    std::vector<std::string> taken_;
    tracelog::Merge merge_{[this](std::span<const std::byte> record, const auto& writer) {
        const auto* header = reinterpret_cast<const tracelog::Header*>(record.data());
        taken_.push_back(
            std::to_string(writer.tid) + ":" + std::to_string(header->t_ns) +
            (header->kind == tracelog::Kind::begun ? " begun" : "") +
            ((header->flags & tracelog::PostRecv::unfinished) != 0 ? " unfinished" : ""));
        return true;
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

TEST_F(Merge, takes_a_call_before_the_calls_inside_it) {
    write_event(0, 1);
    write_event(0, 5);
    write_event(0, 6);
    write_event(0, 3);  // returned after the two before it
    write_event(1, 4);
    write(0, 7);
    EXPECT_EQ(take(all_times), (Taken{"0:1", "0:3", "1:4", "0:5", "0:6", "0:7"}));
    EXPECT_EQ(take(all_times), Taken{});
}

TEST_F(Merge, keeps_what_is_later_than_a_call_in_progress) {
    write(1, 1);
    write(1, 20);
    write_event(0, 15);
    open(0, {10});
    EXPECT_EQ(take(50), Taken{"1:1"});
    write_event(0, 10);
    open(0, {});
    EXPECT_EQ(take(50), (Taken{"0:10", "0:15", "1:20"}));
}

TEST_F(Merge, tells_a_call_that_takes_long_and_does_not_wait_for_it_any_more) {
    const std::int64_t later = 10 + tracelog::Merge::patience_ns;
    write(1, 20);
    open(0, {10, 15});
    EXPECT_EQ(take(later - 1), Taken{});
    EXPECT_EQ(take(later), Taken{"0:10 begun"});  // the call inside it has time until later + 5
    EXPECT_EQ(take(later + 5), (Taken{"0:15 begun", "1:20"}));
    EXPECT_EQ(take(later + 100), Taken{});
    write_event(0, 10);
    open(0, {});
    EXPECT_EQ(take(later + 100), Taken{"0:10"});
}

TEST_F(Merge, does_not_wait_for_a_call_that_waits) {
    write(1, 20);
    open(0, {10}, true);
    EXPECT_EQ(take(30), Taken{"1:20"});
    EXPECT_EQ(take(30 + tracelog::Merge::patience_ns), Taken{});
    region_.end();
    EXPECT_EQ(take(all_times), Taken{"0:10 begun"});
    EXPECT_EQ(take(all_times), Taken{});
}

TEST_F(Merge, takes_the_post_in_which_a_process_has_ended) {
    write(0, 1);
    const tracelog::PostRecv post{{sizeof post, tracelog::Kind::post_recv, 0, 5}, 0, 0, 0, {}};
    writers_[0].put(&post, sizeof post);
    writers_[0].announce();
    write(1, 9);
    EXPECT_EQ(take(all_times), (Taken{"0:1", "1:9"}));
    region_.end();
    EXPECT_EQ(take(all_times), Taken{"0:5 unfinished"});
    EXPECT_EQ(take(all_times), Taken{});
}

TEST_F(Merge, does_not_take_a_post_that_was_refused_when_the_process_ends) {
    const tracelog::PostRecv post{{sizeof post, tracelog::Kind::post_recv, 0, 5}, 0, 0, 0, {}};
    const std::uint64_t begin = writers_[0].end();
    for (int i = 0; i < 3; ++i)
        writers_[0].put(&post, sizeof post);
    writers_[0].announce();
    writers_[0].rewind(begin);
    write_event(0, 6);
    region_.end();
    EXPECT_EQ(take(all_times), Taken{"0:6"});
    EXPECT_FALSE(region_.is_newly_damaged());
}

// What a program does that writes where it must not.
TEST_F(Merge, keeps_to_the_sizes_that_it_has_checked) {
    write(0, 1);
    EXPECT_EQ(take(all_times), Taken{"0:1"});
    header_->ring_bytes = 1ULL << 40U;
    header_->rings = UINT32_MAX;
    write(1, 2);
    EXPECT_EQ(take(all_times), Taken{"1:2"});
    EXPECT_FALSE(region_.is_newly_damaged());
    header_->begun = 100000;
    write(0, 3);
    EXPECT_EQ(take(all_times), Taken{"0:3"});
    EXPECT_TRUE(region_.is_newly_damaged());
    EXPECT_FALSE(region_.is_newly_damaged());
    header_->homeless = UINT64_MAX;
    EXPECT_EQ(region_.newly_homeless(), 0U);
}

TEST_F(Merge, reads_the_other_rings_if_one_is_overwritten) {
    take(all_times);
    write(0, 1);
    write(1, 2);
    std::memset(static_cast<void*>(writers_[0].header()), 0xff, sizeof(RingHeader));
    EXPECT_EQ(take(all_times), Taken{"1:2"});
    EXPECT_TRUE(region_.is_newly_damaged());
    write(1, 3);
    EXPECT_EQ(take(all_times), Taken{"1:3"});
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
