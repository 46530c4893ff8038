#include "rdma/names.hpp"

#include <array>
#include <utility>

#include "util/error.hpp"

namespace rdma {
namespace {

// Uses the enumerator's own spelling after `prefix`, so that a name always matches its value.
#define WORD(prefix, word) \
    case prefix##word:     \
        return #word

constexpr std::array<std::pair<unsigned, std::string_view>, 11> access_bits{{
    {IBV_ACCESS_LOCAL_WRITE, "local_write"},
    {IBV_ACCESS_REMOTE_WRITE, "remote_write"},
    {IBV_ACCESS_REMOTE_READ, "remote_read"},
    {IBV_ACCESS_REMOTE_ATOMIC, "remote_atomic"},
    {IBV_ACCESS_MW_BIND, "mw_bind"},
    {IBV_ACCESS_ZERO_BASED, "zero_based"},
    {IBV_ACCESS_ON_DEMAND, "on_demand"},
    {IBV_ACCESS_HUGETLB, "hugetlb"},
    {access_flush_global, "flush_global"},
    {access_flush_persistent, "flush_persistent"},
    {IBV_ACCESS_RELAXED_ORDERING, "relaxed_ordering"},
}};

}  // namespace

std::string_view name_of(ibv_qp_state state) {
    switch (state) {
        WORD(IBV_QPS_, RESET);
        WORD(IBV_QPS_, INIT);
        WORD(IBV_QPS_, RTR);
        WORD(IBV_QPS_, RTS);
        WORD(IBV_QPS_, SQD);
        WORD(IBV_QPS_, SQE);
        WORD(IBV_QPS_, ERR);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_qp_type type) {
    switch (type) {
        WORD(IBV_QPT_, RC);
        WORD(IBV_QPT_, UC);
        WORD(IBV_QPT_, UD);
        WORD(IBV_QPT_, RAW_PACKET);
        WORD(IBV_QPT_, XRC_SEND);
        WORD(IBV_QPT_, XRC_RECV);
        WORD(IBV_QPT_, DRIVER);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_port_state state) {
    switch (state) {
        WORD(IBV_PORT_, NOP);
        WORD(IBV_PORT_, DOWN);
        WORD(IBV_PORT_, INIT);
        WORD(IBV_PORT_, ARMED);
        WORD(IBV_PORT_, ACTIVE);
        WORD(IBV_PORT_, ACTIVE_DEFER);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_wr_opcode opcode) {
    if (opcode == wr_flush)
        return "FLUSH";
    switch (opcode) {
        WORD(IBV_WR_, RDMA_WRITE);
        WORD(IBV_WR_, RDMA_WRITE_WITH_IMM);
        WORD(IBV_WR_, SEND);
        WORD(IBV_WR_, SEND_WITH_IMM);
        WORD(IBV_WR_, RDMA_READ);
        WORD(IBV_WR_, ATOMIC_CMP_AND_SWP);
        WORD(IBV_WR_, ATOMIC_FETCH_AND_ADD);
        WORD(IBV_WR_, LOCAL_INV);
        WORD(IBV_WR_, BIND_MW);
        WORD(IBV_WR_, SEND_WITH_INV);
        WORD(IBV_WR_, TSO);
        WORD(IBV_WR_, DRIVER1);
        WORD(IBV_WR_, ATOMIC_WRITE);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_wc_opcode opcode) {
    if (opcode == wc_flush)
        return "FLUSH";
    switch (opcode) {
        WORD(IBV_WC_, SEND);
        WORD(IBV_WC_, RDMA_WRITE);
        WORD(IBV_WC_, RDMA_READ);
        WORD(IBV_WC_, COMP_SWAP);
        WORD(IBV_WC_, FETCH_ADD);
        WORD(IBV_WC_, BIND_MW);
        WORD(IBV_WC_, LOCAL_INV);
        WORD(IBV_WC_, TSO);
        WORD(IBV_WC_, ATOMIC_WRITE);
        WORD(IBV_WC_, RECV);
        WORD(IBV_WC_, RECV_RDMA_WITH_IMM);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_wc_status status) {
    switch (status) {
        WORD(IBV_WC_, SUCCESS);
        WORD(IBV_WC_, LOC_LEN_ERR);
        WORD(IBV_WC_, LOC_QP_OP_ERR);
        WORD(IBV_WC_, LOC_PROT_ERR);
        WORD(IBV_WC_, WR_FLUSH_ERR);
        WORD(IBV_WC_, MW_BIND_ERR);
        WORD(IBV_WC_, BAD_RESP_ERR);
        WORD(IBV_WC_, LOC_ACCESS_ERR);
        WORD(IBV_WC_, REM_INV_REQ_ERR);
        WORD(IBV_WC_, REM_ACCESS_ERR);
        WORD(IBV_WC_, REM_OP_ERR);
        WORD(IBV_WC_, RETRY_EXC_ERR);
        WORD(IBV_WC_, RNR_RETRY_EXC_ERR);
        WORD(IBV_WC_, REM_ABORT_ERR);
        WORD(IBV_WC_, FATAL_ERR);
        WORD(IBV_WC_, RESP_TIMEOUT_ERR);
        WORD(IBV_WC_, GENERAL_ERR);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_atomic_cap capability) {
    switch (capability) {
        WORD(IBV_ATOMIC_, NONE);
        WORD(IBV_ATOMIC_, HCA);
        WORD(IBV_ATOMIC_, GLOB);
        default:
            return "UNKNOWN";
    }
}

std::string_view name_of(ibv_event_type event) {
    switch (event) {
        WORD(IBV_EVENT_, CQ_ERR);
        WORD(IBV_EVENT_, QP_FATAL);
        WORD(IBV_EVENT_, QP_REQ_ERR);
        WORD(IBV_EVENT_, QP_ACCESS_ERR);
        WORD(IBV_EVENT_, COMM_EST);
        WORD(IBV_EVENT_, SQ_DRAINED);
        WORD(IBV_EVENT_, PATH_MIG);
        WORD(IBV_EVENT_, PATH_MIG_ERR);
        WORD(IBV_EVENT_, DEVICE_FATAL);
        WORD(IBV_EVENT_, PORT_ACTIVE);
        WORD(IBV_EVENT_, PORT_ERR);
        WORD(IBV_EVENT_, LID_CHANGE);
        WORD(IBV_EVENT_, PKEY_CHANGE);
        WORD(IBV_EVENT_, SM_CHANGE);
        WORD(IBV_EVENT_, SRQ_ERR);
        WORD(IBV_EVENT_, SRQ_LIMIT_REACHED);
        WORD(IBV_EVENT_, QP_LAST_WQE_REACHED);
        WORD(IBV_EVENT_, CLIENT_REREGISTER);
        WORD(IBV_EVENT_, GID_CHANGE);
        WORD(IBV_EVENT_, WQ_FATAL);
        default:
            return "UNKNOWN";
    }
}

#undef WORD

std::string_view name_of(ibv_gid_type type) {
    switch (type) {
        case IBV_GID_TYPE_IB:
            return "InfiniBand";
        case IBV_GID_TYPE_ROCE_V1:
            return "RoCE v1";
        case IBV_GID_TYPE_ROCE_V2:
            return "RoCE v2";
        default:
            return "unknown type";
    }
}

std::string access_names(unsigned access) {
    std::string out;
    for (const auto& [bit, name] : access_bits)
        if ((access & bit) != 0)
            out.append(out.empty() ? "" : " ").append(name);
    return out.empty() ? "local_read" : out;
}

ibv_mtu mtu_of(unsigned bytes) {
    for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
        if (bytes_of(mtu) == bytes)
            return mtu;
    throw util::Error("there is no path MTU of " + std::to_string(bytes) + " bytes.");
}

}  // namespace rdma
