#include "rdma/describe.hpp"

#include <gtest/gtest.h>

#include "rdma/names.hpp"
#include "util/error.hpp"

namespace {

ibv_send_wr atomic(ibv_wr_opcode opcode) {
    ibv_send_wr wr{};
    wr.wr_id = 7;
    wr.opcode = opcode;
    wr.wr.atomic.remote_addr = 0x1000;
    wr.wr.atomic.rkey = 0x42;
    wr.wr.atomic.compare_add = 5;
    wr.wr.atomic.swap = 6;
    return wr;
}

runlog::Fields described(const ibv_send_wr& wr) {
    ibv_qp qp{};
    qp.qp_num = 17;
    return rdma::describe(qp, wr, rdma::PsnRange{100, 100});
}

TEST(Describe, a_fetch_add_has_what_it_adds) {
    EXPECT_EQ(described(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD)),
              (runlog::Fields{{"qpn", 17u},
                              {"wr_id", 7u},
                              {"opcode", "ATOMIC_FETCH_AND_ADD"},
                              {"len", 0u},
                              {"remote_va", 0x1000u},
                              {"rkey", 0x42u},
                              {"add", 5u},
                              {"psn_first", 100u},
                              {"psn_last", 100u}}));
}

TEST(Describe, a_compare_and_swap_has_both_of_its_values) {
    const runlog::Event event{0, "", "", described(atomic(IBV_WR_ATOMIC_CMP_AND_SWP))};
    EXPECT_EQ(event.text("opcode"), "ATOMIC_CMP_AND_SWP");
    EXPECT_EQ(event.number("compare"), 5u);
    EXPECT_EQ(event.number("swap"), 6u);
    EXPECT_EQ(event.number("add"), std::nullopt);
}

TEST(Describe, a_datagram_has_its_destination) {
    ibv_qp qp{};
    qp.qp_num = 17;
    qp.qp_type = IBV_QPT_UD;
    ibv_send_wr wr{};
    wr.wr_id = 7;
    wr.opcode = IBV_WR_SEND;
    wr.wr.ud.remote_qpn = 0xffffff;
    wr.wr.ud.remote_qkey = 0x11223344;
    EXPECT_EQ(rdma::describe(qp, wr, rdma::PsnRange{100, 100}),
              (runlog::Fields{{"qpn", 17u},
                              {"wr_id", 7u},
                              {"opcode", "SEND"},
                              {"len", 0u},
                              {"dest_qpn", 0xffffffu},
                              {"q_key", 0x11223344u},
                              {"psn_first", 100u},
                              {"psn_last", 100u}}));
}

TEST(Describe, an_xrc_request_has_its_receive_queue) {
    ibv_qp qp{};
    qp.qp_type = IBV_QPT_XRC_SEND;
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.qp_type.xrc.remote_srqn = 9;
    const runlog::Event event{0, "", "", rdma::describe(qp, wr, std::nullopt)};
    EXPECT_EQ(event.number("srqn"), 9u);
    EXPECT_EQ(event.number("dest_qpn"), std::nullopt);
}

TEST(Names, a_path_mtu_is_one_of_five) {
    for (const unsigned bytes : {256U, 512U, 1024U, 2048U, 4096U})
        EXPECT_EQ(rdma::bytes_of(rdma::mtu_of(bytes)), bytes);
    EXPECT_THROW(rdma::mtu_of(1500), util::Error);
}

TEST(Names, an_atomic_cap_says_between_whom_atomics_are_atomic) {
    EXPECT_EQ(rdma::name_of(IBV_ATOMIC_NONE), "NONE");
    EXPECT_EQ(rdma::name_of(IBV_ATOMIC_HCA), "HCA");
    EXPECT_EQ(rdma::name_of(IBV_ATOMIC_GLOB), "GLOB");
}

}  // namespace
