// Lesson 24 without a device: the schedule of the ranks, and the encoding of records.
#include <set>

#include <gtest/gtest.h>

#include "examples/24_rendezvous/record.hpp"
#include "examples/24_rendezvous/schedule.hpp"

namespace {

using namespace lesson24;

TEST(RendezvousSchedule, all_reduce_gives_each_rank_all_sums) {
    for (std::uint16_t ranks = least_ranks; ranks <= most_ranks; ++ranks) {
        std::vector<std::vector<std::uint64_t>> chunks(ranks);  // by rank, one number per chunk
        for (std::uint16_t rank = 0; rank < ranks; ++rank)
            for (std::uint16_t chunk = 0; chunk < ranks; ++chunk)
                chunks[rank].push_back(number_of(rank, chunk));
        for (unsigned step = 0; step < steps_of(ranks); ++step) {
            const auto sent = chunks;
            for (std::uint16_t rank = 0; rank < ranks; ++rank) {
                const std::uint16_t before = rank_before(rank, 0, ranks);
                const unsigned chunk = chunk_of(before, step, ranks);
                const std::uint64_t come = sent[before][chunk];
                chunks[rank][chunk] = come + (is_growing(step, ranks) ? chunks[rank][chunk] : 0);
                if (step != 0) {
                    EXPECT_EQ(chunk_of(rank, step, ranks), chunk_of(before, step - 1, ranks))
                        << "what came goes on";
                }
            }
        }
        for (std::uint16_t rank = 0; rank < ranks; ++rank)
            for (std::uint16_t chunk = 0; chunk < ranks; ++chunk)
                EXPECT_EQ(chunks[rank][chunk], sum_of(ranks, chunk)) << ranks;
    }
}

TEST(RendezvousSchedule, dissemination_takes_as_few_rounds_as_it_can) {
    for (std::uint16_t ranks = least_ranks; ranks <= most_ranks; ++ranks) {
        std::vector<std::set<std::uint16_t>> known(ranks);
        for (std::uint16_t rank = 0; rank < ranks; ++rank)
            known[rank] = {rank};
        for (unsigned round = 0; round < rounds_of(ranks); ++round) {
            EXPECT_LT(known[0].size(), ranks);
            const auto sent = known;
            for (std::uint16_t rank = 0; rank < ranks; ++rank) {
                const std::uint16_t before = rank_before(rank, round, ranks);
                EXPECT_EQ(rank_after(before, round, ranks), rank);
                known[rank].insert(sent[before].begin(), sent[before].end());
            }
        }
        for (const auto& all : known)
            EXPECT_EQ(all.size(), ranks);
    }
}

TEST(RendezvousWords, no_two_flags_of_a_rank_are_the_same) {
    std::set<std::uint32_t> flags{flag::failed};
    std::size_t count = 1;
    const Job job{.ranks = most_ranks, .barriers = 100};
    for (std::uint16_t rank = 0; rank < job.ranks; ++rank) {
        for (std::uint16_t g = generation::table; g <= generation::end_of(job); ++g, ++count)
            flags.insert(flag::of(rank, g));
        for (unsigned step = 0; step < steps_of(job.ranks); ++step, ++count)
            flags.insert(flag::of_ring(rank, step));
        for (std::uint16_t barrier = 1; barrier <= job.barriers; ++barrier)
            for (unsigned round = 0; round < most_rounds; ++round, ++count)
                flags.insert(flag::of_round(rank, barrier, round));
    }
    EXPECT_EQ(flags.size(), count);
}

TEST(RendezvousWords, arrive_as_they_were) {
    const Request request{.job = {.ranks = 5, .barriers = 7, .late = 3, .no_barrier = true},
                          .rank = 4};
    EXPECT_EQ(Request::parse(request.serialize()).job, request.job);
    EXPECT_EQ(Request::parse(request.serialize()).rank, 4);

    Record record{.rank = 3, .path_mtu = 4096, .pid = 77, .va = 0x7f0012345678, .rkey = 0x269};
    record.gid.fill(std::byte{0xab});
    record.out = {{{0x11, 0xfffffe}, {0x12, 1}, {0x13, 2}, {0x14, 3}}};
    record.in = {{{0x21, 4}, {0x22, 5}, {0x23, 6}, {0x24, 7}}};
    record.host = "rdma-client3";
    EXPECT_EQ(Record::parse(record.serialize(), 3), record);

    const Entry entry{.barrier = 3, .ticket = 0xdeadbeef};
    EXPECT_EQ(Entry::parse(entry.serialize()), entry);

    const Assignment place{
        .slot = {.va = 1, .length = 136, .rkey = 2}, .rank = 9, .time_limit_s = 600};
    EXPECT_EQ(Assignment::parse(place.serialize()).rank, 9);
    EXPECT_EQ(Assignment::parse(place.serialize()).time_limit_s, 600);
    EXPECT_EQ(Assignment::parse(place.serialize()).slot, place.slot);
}

TEST(RendezvousWords, what_is_none_is_refused) {
    const Record record{.rank = 3};
    EXPECT_THROW(Record::parse(record.serialize(), 2), util::Error) << "another rank's";
    const std::array<std::byte, Record::size> nothing{};
    EXPECT_THROW(Record::parse(nothing, 0), util::Error) << "a slot that nobody has written";
    EXPECT_THROW(Request::parse({}), util::Error);
    EXPECT_THROW(Request::parse(nothing), util::Error);
    EXPECT_THROW(Assignment::parse(std::span(nothing).first<10>()), util::Error);
}

TEST(RendezvousWords, of_another_machine_are_safe_to_print) {
    using namespace std::string_view_literals;
    const auto wire = "rank 2\n\x1b[2Jgone\0more"sv;
    EXPECT_EQ(sentence_in(std::as_bytes(std::span(wire))), "rank 2??[2Jgone");
    EXPECT_EQ(names_of({2}), "rank 2");
    EXPECT_EQ(names_of({2, 3, 15}), "ranks 2, 3, 15");
}

}  // namespace
