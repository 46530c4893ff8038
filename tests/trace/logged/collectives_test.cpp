// Collectives and the chunks of all_reduces, from the events of the ranks.
#include "trace/logged/collectives.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace collectives_test {

using logged::Chunk;
using logged::Collectives;

class Job {
  public:
    void joins(const std::string& role, std::uint64_t rank, std::uint64_t ranks,
               std::uint64_t chunks) {
        collectives.learn(
            {++now_, role, "joined", {{"rank", rank}, {"ranks", ranks}, {"chunks", chunks}}});
    }
    void begins(const std::string& role, std::uint64_t step) {
        collectives.learn({++now_, role, "collective", {{"iteration", step}}});
    }
    void ends(const std::string& role, std::uint64_t step) {
        collectives.learn({++now_, role, "collective_end", {{"iteration", step}}});
    }
    std::optional<Chunk> posts(const std::string& role, std::uint64_t length = 4096,
                               const char* opcode = "RDMA_WRITE_WITH_IMM") {
        return collectives.learn(
            {++now_, role, "post_send", {{"opcode", opcode}, {"len", length}}});
    }

    Collectives collectives;

  private:
    std::int64_t now_ = 0;
};

// Each rank keeps, for each chunk, how many ranks' values are in it.
class Rings : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Rings, end_with_all_values_in_each_chunk_of_each_rank) {
    const std::uint32_t ranks = GetParam();
    const std::size_t chunks = std::size_t{2} * ranks;
    Job job;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        job.joins(std::to_string(rank), rank, ranks, chunks);
        job.begins(std::to_string(rank), 7);
    }
    std::vector summed(ranks, std::vector<std::uint32_t>(chunks, 1));
    for (std::uint32_t turn = 0; turn < 4 * ranks - 4; ++turn) {
        const auto before = summed;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const auto chunk = job.posts(std::to_string(rank));
            ASSERT_TRUE(chunk);
            EXPECT_EQ(chunk->all_reduce, 7U);
            EXPECT_EQ(chunk->to(), (rank + 1) % ranks);
            const std::uint32_t sent = before[rank].at(chunk->number());
            EXPECT_EQ(chunk->contents(), sent == 1       ? "its own"
                                         : sent == ranks ? "complete"
                                                         : "sum of " + std::to_string(sent));
            std::uint32_t& there = summed[chunk->to()][chunk->number()];
            there = chunk->step() < ranks ? there + sent : sent;
        }
    }
    EXPECT_EQ(summed, std::vector(ranks, std::vector(chunks, ranks)));
    EXPECT_FALSE(job.posts("0")) << "an all_reduce has no more chunks";
}

INSTANTIATE_TEST_SUITE_P(All, Rings, testing::Values(2, 3, 4, 7));

TEST(Chunks, are_writes_with_immediate_data_within_a_collective) {
    Job job;
    job.joins("client", 1, 2, 4);
    EXPECT_FALSE(job.posts("client")) << "before the first all_reduce";
    job.begins("client", 1);
    EXPECT_FALSE(job.posts("client", 4)) << "a credit";
    EXPECT_FALSE(job.posts("client", 4096, "RDMA_WRITE"));
    EXPECT_FALSE(job.posts("server")) << "another program";
    EXPECT_EQ(job.posts("client").value().text(), "all_reduce 1 · step 1 · chunk 2 · rank 1 → 0");
    EXPECT_EQ(job.posts("client").value().number(), 3U);
    job.ends("client", 1);
    EXPECT_FALSE(job.posts("client")) << "after it";
    job.begins("client", 2);
    EXPECT_EQ(job.posts("client").value().text(), "all_reduce 2 · step 1 · chunk 2 · rank 1 → 0");
}

TEST(Chunks, need_a_rank_of_a_ring) {
    Job job;
    job.begins("client", 1);
    EXPECT_FALSE(job.posts("client")) << "without a rank";
    for (const auto& [rank, ranks, chunks] : {std::tuple(2U, 2U, 4U),
                                              {0U, 1U, 2U},
                                              {0U, 0U, 0U},
                                              {0U, 2U, 2U},
                                              {0U, 70'000U, 140'000U}}) {
        job.joins("client", rank, ranks, chunks);
        job.begins("client", 1);
        EXPECT_FALSE(job.posts("client")) << rank << " of " << ranks;
    }
    EXPECT_EQ(job.collectives.all().size(), 6U);
}

TEST(LoggedCollectives, take_until_the_end_of_the_same_step) {
    Job job;
    job.begins("client", 1);
    job.begins("server", 1);
    job.ends("client", 2);
    job.ends("server", 1);
    job.ends("server", 1);
    const auto& all = job.collectives.all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].took_ns, std::nullopt);
    EXPECT_EQ(all[1].took_ns, 2);
    EXPECT_EQ(all[1].began.role, "server");
}

}  // namespace collectives_test
