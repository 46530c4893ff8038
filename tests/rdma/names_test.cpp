// The name of every enumerator, and of a value that has none.
#include "rdma/names.hpp"

#include <gtest/gtest.h>

#include "support/error_text.hpp"

namespace names_test {

// The names of the values 0, 1, 2…; the last one is no enumerator.
template <typename Enum>
void expect_names(const std::vector<std::string>& names) {
    for (std::size_t value = 0; value < names.size(); ++value)
        EXPECT_EQ(rdma::name_of(static_cast<Enum>(value)), names[value]) << value;
}

TEST(EnumeratorNames, of_states_and_types_are_those_of_the_man_pages) {
    expect_names<ibv_qp_state>({"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", "UNKNOWN"});
    expect_names<ibv_port_state>(
        {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER", "UNKNOWN"});
    expect_names<ibv_gid_type>({"InfiniBand", "RoCE v1", "RoCE v2", "unknown type"});
    expect_names<ibv_atomic_cap>({"NONE", "HCA", "GLOB", "UNKNOWN"});
    EXPECT_EQ(rdma::name_of(IBV_QPT_RC), "RC");
    EXPECT_EQ(rdma::name_of(IBV_QPT_UC), "UC");
    EXPECT_EQ(rdma::name_of(IBV_QPT_UD), "UD");
    EXPECT_EQ(rdma::name_of(IBV_QPT_RAW_PACKET), "RAW_PACKET");
    EXPECT_EQ(rdma::name_of(IBV_QPT_XRC_SEND), "XRC_SEND");
    EXPECT_EQ(rdma::name_of(IBV_QPT_XRC_RECV), "XRC_RECV");
    EXPECT_EQ(rdma::name_of(IBV_QPT_DRIVER), "DRIVER");
    EXPECT_EQ(rdma::name_of(ibv_qp_type{}), "UNKNOWN");
}

TEST(EnumeratorNames, of_requests_and_completions_are_those_of_the_man_pages) {
    expect_names<ibv_wr_opcode>({"RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM",
                                 "RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD",
                                 "LOCAL_INV", "BIND_MW", "SEND_WITH_INV", "TSO", "DRIVER1"});
    EXPECT_EQ(rdma::name_of(IBV_WR_ATOMIC_WRITE), "ATOMIC_WRITE");
    EXPECT_EQ(rdma::name_of(rdma::wr_flush), "FLUSH");
    EXPECT_EQ(rdma::name_of(static_cast<ibv_wr_opcode>(13)), "UNKNOWN");
    expect_names<ibv_wc_opcode>({"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD",
                                 "BIND_MW", "LOCAL_INV", "TSO", "FLUSH", "ATOMIC_WRITE"});
    EXPECT_EQ(rdma::name_of(IBV_WC_RECV), "RECV");
    EXPECT_EQ(rdma::name_of(IBV_WC_RECV_RDMA_WITH_IMM), "RECV_RDMA_WITH_IMM");
    EXPECT_EQ(rdma::name_of(static_cast<ibv_wc_opcode>(100)), "UNKNOWN");
    EXPECT_EQ(rdma::name_of(IBV_WC_SUCCESS), "SUCCESS");
    EXPECT_EQ(rdma::name_of(IBV_WC_LOC_LEN_ERR), "LOC_LEN_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_LOC_QP_OP_ERR), "LOC_QP_OP_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_LOC_PROT_ERR), "LOC_PROT_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_WR_FLUSH_ERR), "WR_FLUSH_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_MW_BIND_ERR), "MW_BIND_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_BAD_RESP_ERR), "BAD_RESP_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_LOC_ACCESS_ERR), "LOC_ACCESS_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_REM_INV_REQ_ERR), "REM_INV_REQ_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_REM_ACCESS_ERR), "REM_ACCESS_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_REM_OP_ERR), "REM_OP_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_RETRY_EXC_ERR), "RETRY_EXC_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_RNR_RETRY_EXC_ERR), "RNR_RETRY_EXC_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_REM_ABORT_ERR), "REM_ABORT_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_FATAL_ERR), "FATAL_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_RESP_TIMEOUT_ERR), "RESP_TIMEOUT_ERR");
    EXPECT_EQ(rdma::name_of(IBV_WC_GENERAL_ERR), "GENERAL_ERR");
    EXPECT_EQ(rdma::name_of(static_cast<ibv_wc_status>(31)), "UNKNOWN");
}

TEST(EnumeratorNames, of_asynchronous_events_are_those_of_the_man_pages) {
    expect_names<ibv_event_type>({"CQ_ERR",
                                  "QP_FATAL",
                                  "QP_REQ_ERR",
                                  "QP_ACCESS_ERR",
                                  "COMM_EST",
                                  "SQ_DRAINED",
                                  "PATH_MIG",
                                  "PATH_MIG_ERR",
                                  "DEVICE_FATAL",
                                  "PORT_ACTIVE",
                                  "PORT_ERR",
                                  "LID_CHANGE",
                                  "PKEY_CHANGE",
                                  "SM_CHANGE",
                                  "SRQ_ERR",
                                  "SRQ_LIMIT_REACHED",
                                  "QP_LAST_WQE_REACHED",
                                  "CLIENT_REREGISTER",
                                  "GID_CHANGE",
                                  "WQ_FATAL",
                                  "UNKNOWN"});
}

TEST(EnumeratorNames, of_access_flags_are_in_one_order) {
    EXPECT_EQ(rdma::access_names(0), "local_read");
    EXPECT_EQ(rdma::access_names(IBV_ACCESS_LOCAL_WRITE), "local_write");
    EXPECT_EQ(rdma::access_names(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE),
              "local_write remote_read");
    EXPECT_EQ(rdma::access_names(0x3f),
              "local_write remote_write remote_read remote_atomic mw_bind zero_based");
    EXPECT_EQ(rdma::access_names(IBV_ACCESS_HUGETLB | rdma::access_flush_global),
              "hugetlb flush_global");
}

TEST(EnumeratorNames, a_path_mtu_has_its_bytes) {
    const std::vector<unsigned> bytes{0, 256, 512, 1024, 2048, 4096, 0};
    for (unsigned mtu = 0; mtu < bytes.size(); ++mtu)
        EXPECT_EQ(rdma::bytes_of(static_cast<ibv_mtu>(mtu)), bytes[mtu]) << mtu;
    EXPECT_EQ(rdma::mtu_of(256), IBV_MTU_256);
    EXPECT_EQ(rdma::mtu_of(4096), IBV_MTU_4096);
    EXPECT_EQ(support::error_text([] { rdma::mtu_of(1500); }),
              "there is no path MTU of 1500 bytes.");
}

}  // namespace names_test
