// Lesson 13, both sides: the memory that all clients share, the keys that grant access to it,
// and how many READs and atomics a device and a connection support in flight.
#pragma once

#include <cstdint>
#include <string>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace lesson13 {

/// An atomic works on 8 bytes at an address that is a multiple of 8; there is no other size.
struct Words {
    alignas(8) std::uint64_t counter = 0;
    std::uint64_t maximum = 0;
    std::uint64_t stamp = 0;  // of an ATOMIC WRITE (flush.hpp)
};

/// The same memory is registered twice, and a third time for a client that asks for FLUSH. A client
/// selects one of the keys in its connection request.
enum class Key : std::uint8_t { WithAtomics, WithoutAtomics, WithFlush };

// The header of Debian 12 has no names for these rights (ibv_reg_mr(3), bits 8 and 9).
constexpr int access_flush_global = 1 << 8;
constexpr int access_flush_persistent = 1 << 9;

/// Returns the device's attributes. Throws util::Error if it does not support atomics.
inline ibv_device_attr query_device(ibv_context* context) {
    ibv_device_attr attr{};
    CHECK_RC(ibv_query_device(context, &attr));
    if (attr.atomic_cap == IBV_ATOMIC_NONE)
        throw util::Error(std::string(ibv_get_device_name(context->device)) +
                          " has no atomics (atomic_cap is NONE). This lesson needs a device with "
                          "atomics on both ends; Soft-RoCE is one.");
    return attr;
}

inline void log_device(ibv_context* context, const ibv_device_attr& attr, runlog::Log& log) {
    log.event("atomics", {{"device", ibv_get_device_name(context->device)},
                          {"atomic_cap", rdma::name_of(attr.atomic_cap)},
                          {"max_qp_rd_atom", attr.max_qp_rd_atom},
                          {"max_qp_init_rd_atom", attr.max_qp_init_rd_atom}});
}

/// Logs the depths that both ends agreed on, and the access rights that rdma_cm gave the queue
/// pair.
inline void log_depth(ibv_qp* qp, runlog::Log& log) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    constexpr int mask = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS;
    CHECK_RC(ibv_query_qp(qp, &attr, mask, &init));
    log.event("rd_atomic", {{"qpn", qp->qp_num},
                            {"max_rd_atomic", attr.max_rd_atomic},
                            {"max_dest_rd_atomic", attr.max_dest_rd_atomic},
                            {"access", rdma::access_names(attr.qp_access_flags)}});
}

inline void log_state(ibv_qp* qp, runlog::Log& log) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    CHECK_RC(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    log.event("qp_state", {{"qpn", qp->qp_num}, {"state", rdma::name_of(attr.qp_state)}});
}

}  // namespace lesson13
