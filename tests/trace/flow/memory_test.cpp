// The memory of a tracker is bounded, and adding a packet does not allocate.
#include <gtest/gtest.h>

#include "bench/traffic.hpp"
#include "filter/field.hpp"
#include "support/allocation_count.hpp"
#include "trace/flow/feed.hpp"
#include "wire/text/line.hpp"

namespace memory_test {

using namespace flow_test;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

void expect_totals_add_up(const Feed& feed, const flow::Tracker& tracker) {
    const flow::Totals& totals = tracker.totals();
    std::uint64_t packets = totals.evicted_packets + totals.not_roce + totals.unreadable;
    for (const auto& one : feed.conversations())
        packets += one.forward.packets + (one.backward ? one.backward->packets : 0);
    EXPECT_EQ(packets, totals.packets);
}

TEST(BoundedMemory, streams_beyond_the_limit_are_forgotten_and_counted) {
    Feed feed({.streams = flow::Limits::least_streams});
    constexpr std::uint32_t pairs = 3000;
    for (std::uint32_t i = 0; i < pairs; ++i) {
        feed.add(packet({.from = 1, .to = 2, .qpn = i}, opcode::send_only, 100, 8));
        feed.add(answer({.from = 2, .to = 1, .qpn = i + pairs}, 100));
    }
    const flow::Totals& totals = feed.tracker().totals();
    EXPECT_EQ(feed.tracker().streams(), flow::Limits::least_streams);
    EXPECT_EQ(totals.evicted_streams, std::uint64_t{2} * pairs - flow::Limits::least_streams);
    EXPECT_EQ(totals.evicted_packets, totals.evicted_streams);
    EXPECT_GT(totals.evicted_bytes, totals.evicted_packets * 50);
    expect_totals_add_up(feed, feed.tracker());
    EXPECT_EQ(feed.conversations().size(), flow::Limits::least_streams / 2);
    for (const auto& one : feed.conversations())
        EXPECT_EQ(one.pairing, flow::Pairing::AckGuess) << "of the packets that were kept";
}

TEST(BoundedMemory, what_is_used_is_kept) {
    Feed feed({.streams = flow::Limits::least_streams});
    feed.connect(there, {.comm_id = 1, .qpn = back.qpn, .psn = 0},
                 {.comm_id = 2, .qpn = there.qpn, .psn = 0});
    for (std::uint32_t i = 0; i < 1000; ++i) {
        feed.add(packet(there, opcode::send_only, i, 8));
        feed.add(answer(back, i));
        feed.add(packet({.from = 3, .to = 4, .qpn = i}, opcode::send_only, 100, 8));
    }
    const auto all = feed.connections();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].forward.packets, 1000U);
    EXPECT_EQ(all[0].forward.requests.ack.count, 1000U);
    expect_totals_add_up(feed, feed.tracker());
}

TEST(BoundedMemory, connections_and_datagrams_and_what_is_none_add_up) {
    bench::Traffic traffic(200);
    Feed feed({.streams = flow::Limits::least_streams});
    for (int i = 0; i < 20'000; ++i)
        feed.add(traffic.next().bytes);
    const auto cut = wire::encode(packet(there, opcode::send_only, 0, 8));
    feed.add(util::Bytes(cut).first(50), cut.size());
    EXPECT_GT(feed.tracker().totals().not_roce, 0U);
    EXPECT_EQ(feed.tracker().totals().unreadable, 1U);
    EXPECT_GT(feed.tracker().totals().evicted_packets, 0U);
    expect_totals_add_up(feed, feed.tracker());
}

// The PSN of the response matches a stream that was evicted and whose slot another stream uses.
TEST(BoundedMemory, the_place_of_a_forgotten_stream_is_not_paired_in_its_name) {
    Feed feed({.streams = flow::Limits::least_streams});
    feed.add(packet(there, opcode::send_only, 100, 8));
    for (std::uint32_t i = 0; i < flow::Limits::least_streams; ++i)
        feed.add(packet({.from = 1, .to = 2, .qpn = 0x1000 + i}, opcode::send_only, 5000, 8));
    feed.add(answer(back, 100));
    for (const auto& one : feed.conversations())
        EXPECT_EQ(one.pairing, flow::Pairing::None);
}

TEST(BoundedMemory, a_stream_whose_guessed_pair_is_forgotten_does_not_name_its_sender) {
    Feed feed({.streams = flow::Limits::least_streams});
    feed.add(packet(there, opcode::send_only, 100, 8));
    feed.add(answer(back, 100));
    EXPECT_EQ(feed.conversations()[0].forward.src_qpn, back.qpn);
    for (std::uint32_t i = 0; i < flow::Limits::least_streams; ++i) {
        feed.add(packet({.from = 1, .to = 2, .qpn = 0x1000 + i}, opcode::send_only, 5000, 8));
        feed.add(packet(there, opcode::send_only, 101 + i, 8));
    }
    const auto all = feed.conversations();
    EXPECT_EQ(all[0].forward.dest_qpn, there.qpn);
    EXPECT_EQ(all[0].pairing, flow::Pairing::None);
    EXPECT_FALSE(all[0].forward.src_qpn);
}

constexpr std::uint32_t in_flight = 500, rounds = 10;

// 20,000 requests of one connection without a response, then those of another, which has them.
flow::Requests answered_beside_unanswered(Feed& feed) {
    for (std::uint32_t i = 0; i < 20'000; ++i)
        feed.add(packet({.from = 3, .to = 4, .qpn = 0x33}, opcode::send_only, i, 8));
    feed.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = back.qpn});
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t i = 0; i < in_flight; ++i)
            feed.add(packet(there, opcode::send_only, round * in_flight + i, 8));
        feed.add(answer(back, (round + 1) * in_flight - 1));
    }
    const auto all = feed.conversations();
    EXPECT_EQ(all.size(), 2U);
    return all.at(1).forward.requests;
}

// If the capture has only one direction, the requests have no responses.
TEST(BoundedMemory, connections_that_nobody_answers_leave_room_for_the_others) {
    Feed feed({.streams = flow::Limits::least_streams});
    const auto answered = answered_beside_unanswered(feed);
    EXPECT_EQ(answered.ack.count, rounds * in_flight);
    EXPECT_EQ(answered.unmeasured, 0U);
    const auto unanswered = feed.conversations().front().forward.requests;
    EXPECT_EQ(unanswered.ack.count, 0U);
    EXPECT_EQ(unanswered.unmeasured, 20'000U);
}

TEST(BoundedMemory, connections_with_requests_of_both_sides_and_no_answer_leave_room_too) {
    Feed feed({.streams = flow::Limits::least_streams});
    feed.tracker().know({.host = std::nullopt, .qpn = 0x33, .dest_qpn = 0x44});
    feed.add(packet({.from = 4, .to = 3, .qpn = 0x44}, opcode::send_only, 7, 8));
    const auto answered = answered_beside_unanswered(feed);
    EXPECT_TRUE(feed.conversations().front().backward) << "paired";
    EXPECT_EQ(answered.ack.count, rounds * in_flight);
    EXPECT_EQ(answered.unmeasured, 0U);
}

std::vector<bench::Traffic::Frame> frames(std::size_t count) {
    bench::Traffic traffic(100);
    std::vector<bench::Traffic::Frame> made(count);
    std::ranges::generate(made, [&] { return traffic.next(); });
    return made;
}

TEST(NoAllocation, for_a_packet_that_is_decoded_and_tracked) {
    const auto made = frames(20'000);
    for (const std::size_t streams : {std::size_t{16}, std::size_t{32768}}) {
        flow::Tracker tracker({.streams = streams});
        const support::AllocationCount allocations;
        for (const auto& frame : made)
            tracker.add(frame.time,
                        wire::decode(frame.bytes, wire::LinkType::Ethernet, frame.bytes.size(),
                                     wire::IcrcCheck::Skip),
                        frame.bytes.size());
        EXPECT_EQ(allocations.count(), 0U) << streams;
    }
}

// Exceptions are connection manager messages and packets that are not RoCE, which are rare.
TEST(NoAllocation, for_a_packet_that_is_printed_as_a_line_and_as_a_row) {
    auto made = frames(5'000);
    std::erase_if(made, [](const bench::Traffic::Frame& frame) {
        const auto packet = wire::decode(frame.bytes, wire::LinkType::Ethernet);
        return packet.cm || packet.not_roce;
    });
    wire::Listing listing;
    std::string names;
    for (const filter::Field& field : filter::fields())
        names += (names.empty() ? "" : ",") + std::string(field.name);
    for (const auto format : {filter::Row::Format::Tsv, filter::Row::Format::Csv}) {
        const filter::Row row(names, format);
        std::string out;
        std::string scratch;
        const auto print_all = [&] {
            std::uint64_t number = 0;
            for (const auto& frame : made) {
                out.clear();
                const auto packet = wire::decode(frame.bytes, wire::LinkType::Ethernet,
                                                 frame.bytes.size(), wire::IcrcCheck::Skip);
                listing.append(out, ++number, frame.time, packet, frame.bytes);
                row.append(out,
                           {number, frame.time, packet, frame.bytes, frame.bytes.size(), scratch});
            }
        };
        print_all();
        const support::AllocationCount allocations;
        print_all();
        EXPECT_EQ(allocations.count(), 0U);
    }
}

}  // namespace memory_test
