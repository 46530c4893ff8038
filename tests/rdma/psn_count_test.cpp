#include "rdma/psn_count.hpp"

#include <gtest/gtest.h>

namespace {

using rdma::psn_count;

TEST(PsnCount, is_one_for_each_packet) {
    EXPECT_EQ(psn_count(IBV_WR_RDMA_WRITE, 1024, 1024), 1U);
    EXPECT_EQ(psn_count(IBV_WR_RDMA_WRITE, 1025, 1024), 2U);
    EXPECT_EQ(psn_count(IBV_WR_SEND, 10'000, 1024), 10U);
}

TEST(PsnCount, of_an_empty_message_is_one) {
    EXPECT_EQ(psn_count(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 4096), 1U);
    EXPECT_EQ(psn_count(IBV_WR_RDMA_READ, 0, 4096), 1U);
}

TEST(PsnCount, of_a_read_is_that_of_its_response) {
    EXPECT_EQ(psn_count(IBV_WR_RDMA_READ, 12'288, 4096), 3U);
}

TEST(PsnCount, of_an_atomic_is_one_and_of_a_local_operation_none) {
    EXPECT_EQ(psn_count(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 256), 1U);
    EXPECT_EQ(psn_count(IBV_WR_ATOMIC_CMP_AND_SWP, 8, 256), 1U);
    EXPECT_EQ(psn_count(rdma::wr_flush, 1 << 20, 256), 1U) << "the length of a range, not of data";
    EXPECT_EQ(psn_count(IBV_WR_LOCAL_INV, 0, 256), 0U);
    EXPECT_EQ(psn_count(IBV_WR_BIND_MW, 4096, 256), 0U);
}

TEST(PsnCount, of_2_gib_fits_in_24_bits) {
    EXPECT_EQ(psn_count(IBV_WR_RDMA_WRITE, 1ULL << 31, 256), 1U << 23);
}

}  // namespace
