#include "render/page/throughput.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace {

using page::Stream;
using page::Throughput;

std::uint64_t total(const std::vector<std::uint64_t>& sums) {
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

TEST(Throughput, counts_each_stream_apart) {
    Throughput throughput;
    throughput.add(Stream::RoceAhead, 0, 10);
    throughput.add(Stream::TcpBack, 0, 7);
    EXPECT_EQ(throughput.sums()[0], std::vector<std::uint64_t>{10});
    EXPECT_EQ(throughput.sums()[1], std::vector<std::uint64_t>{});
    EXPECT_EQ(throughput.sums()[3], std::vector<std::uint64_t>{7});
}

TEST(Throughput, counts_what_is_early_at_the_beginning) {
    Throughput throughput;
    throughput.add(Stream::RoceAhead, -5, 10);
    EXPECT_EQ(throughput.sums()[0], std::vector<std::uint64_t>{10});
}

// One packet every 100 ns, each one byte longer than the one before. Intervals are merged several
// times; each must contain the bytes of its own time, and no byte may be lost.
TEST(Throughput, keeps_few_parts_and_every_byte_in_its_own) {
    Throughput throughput;
    constexpr std::int64_t packets = 500'000;
    for (std::int64_t i = 0; i < packets; ++i)
        throughput.add(Stream::RoceAhead, 100 * i, static_cast<std::uint64_t>(i));
    const auto& sums = throughput.sums()[0];
    EXPECT_LE(sums.size(), 2048u);
    EXPECT_GT(sums.size(), 1000u);
    EXPECT_EQ(total(sums), static_cast<std::uint64_t>(packets * (packets - 1) / 2));
    const std::int64_t in_part = throughput.width() / 100;
    const auto third = static_cast<std::uint64_t>(in_part * (2 * in_part + 3 * in_part - 1) / 2);
    EXPECT_EQ(sums[2], third);
}

}  // namespace
