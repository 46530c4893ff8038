#include "rdma/psn.hpp"

#include <gtest/gtest.h>

#include "util/error.hpp"

namespace {

using rdma::PsnPredictor;
using rdma::PsnRange;

TEST(PsnPredictor, takes_one_psn_a_packet) {
    PsnPredictor psns(100, 1024);
    EXPECT_EQ(psns.take(IBV_WR_RDMA_WRITE, 1024), (PsnRange{100, 100}));
    EXPECT_EQ(psns.take(IBV_WR_RDMA_WRITE, 1025), (PsnRange{101, 102}));
    EXPECT_EQ(psns.take(IBV_WR_SEND, 10'000), (PsnRange{103, 112}));
    EXPECT_EQ(psns.next(), 113u);
}

TEST(PsnPredictor, an_empty_message_is_still_a_packet) {
    PsnPredictor psns(7, 4096);
    EXPECT_EQ(psns.take(IBV_WR_RDMA_WRITE_WITH_IMM, 0), (PsnRange{7, 7}));
    EXPECT_EQ(psns.take(IBV_WR_RDMA_READ, 0), (PsnRange{8, 8}));
}

TEST(PsnPredictor, a_read_takes_as_many_as_its_response_has_packets) {
    PsnPredictor psns(0, 4096);
    EXPECT_EQ(psns.take(IBV_WR_RDMA_READ, 12'288), (PsnRange{0, 2}));
}

TEST(PsnPredictor, an_atomic_takes_one_and_a_local_operation_none) {
    PsnPredictor psns(5, 256);
    EXPECT_EQ(psns.take(IBV_WR_ATOMIC_FETCH_AND_ADD, 8), (PsnRange{5, 5}));
    EXPECT_EQ(psns.take(IBV_WR_LOCAL_INV, 0), std::nullopt);
    EXPECT_EQ(psns.next(), 6u);
}

TEST(PsnPredictor, wraps_at_24_bits) {
    PsnPredictor psns(0xfffffe, 256);
    EXPECT_EQ(psns.take(IBV_WR_SEND, 1024), (PsnRange{0xfffffe, 0x000001}));
    EXPECT_EQ(psns.next(), 2u);
}

TEST(PsnPredictor, a_message_of_2_gib_fits) {
    PsnPredictor psns(0, 256);
    EXPECT_EQ(psns.take(IBV_WR_RDMA_WRITE, 1ull << 31), (PsnRange{0, (1u << 23) - 1}));
}

TEST(PsnPredictor, refuses_a_queue_pair_without_a_path_mtu) {
    EXPECT_THROW(PsnPredictor(0, 0), util::Error);
}

}  // namespace
