// Lesson 13, the two operations of the specification's annex A19: an ATOMIC WRITE of eight bytes, and
// a FLUSH, whose response says that the bytes written before it are in the responder's memory.
#pragma once

#include <concepts>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "examples/common/cm_client.hpp"
#include "words.hpp"

namespace lesson13 {

/// Whether libibverbs has ibv_wr_flush(3). The header of Debian 12 (rdma-core 44) does not have it,
/// nor the names below (infiniband/verbs.h).
template <class QpEx>
concept HasFlush = requires(QpEx qp) {
    qp.wr_flush;
};
constexpr std::uint64_t qp_ex_with_flush = 1U << 11;
constexpr std::uint8_t flush_global = 1;  // all of the responder sees the bytes
constexpr std::uint8_t flush_range = 0;   // of these addresses, not of the whole region

/// What is missing for the two operations on this device, as a sentence; nullopt: nothing. Throws
/// std::system_error if the device cannot be queried.
template <class QpEx = ibv_qp_ex>
std::optional<std::string> missing_for_flush(ibv_context* context) {
    constexpr std::string_view try_this = "run LAB_SYSROOT=trixie lab/lab up, and this again.";
    if (!HasFlush<QpEx>)
        return fmt::format("This system's libibverbs has no ibv_wr_flush: {}", try_this);
    // IB_UVERBS_DEVICE_FLUSH_GLOBAL and _ATOMIC_WRITE (linux/rdma/ib_user_verbs.h).
    constexpr std::uint64_t both = 1ULL << 38 | 1ULL << 40;
    ibv_device_attr_ex attr{};
    CHECK_RC(ibv_query_device_ex(context, nullptr, &attr));
    if ((attr.device_cap_flags_ex & both) == both)
        return {};
    return fmt::format("{} has no FLUSH and ATOMIC WRITE, which Soft-RoCE has since Linux 6.2: {}",
                       ibv_get_device_name(context->device), try_this);
}

/// Posts an ATOMIC WRITE of `value` to the stamp and a FLUSH of all words, together. Throws
/// util::Error if one fails.
template <class QpEx = ibv_qp_ex>
void write_and_flush(const common::ClientOptions& options, std::uint64_t value, runlog::Log& log,
                     util::StopSignal& stop) {
    common::CmClient client(options, 2, log, stop);
    if (const auto missing = missing_for_flush<QpEx>(client.id()->verbs))
        throw util::Error(*missing);

    // 1. A queue pair with both operations, and a key for memory that may be flushed.
    ibv_qp_init_attr_ex init{.send_cq = client.cq(),
                             .recv_cq = client.cq(),
                             .cap = {.max_send_wr = 2,
                                     .max_recv_wr = 1,
                                     .max_send_sge = 1,
                                     .max_recv_sge = 1,
                                     .max_inline_data = sizeof value},
                             .qp_type = IBV_QPT_RC,
                             .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                             .pd = client.pd(),
                             .send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE | qp_ex_with_flush};
    CHECK_ERRNO(rdma_create_qp_ex(client.id(), &init));
    const rdma::CmQp qp{client.id()};  // its destructor calls rdma_destroy_qp
    const auto key = static_cast<std::byte>(Key::WithFlush);
    const rdma::Capability remote = client.connect({&key, 1});

    // 2. Both requests. Neither needs memory here: the value goes into the request itself.
    if constexpr (HasFlush<QpEx>) {
        QpEx* extended = ibv_qp_to_qp_ex(client.qp());
        ibv_wr_start(extended);
        extended->wr_id = 1;
        extended->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_atomic_write(extended, remote.rkey, remote.va + offsetof(Words, stamp), &value);
        extended->wr_id = 2;
        extended->wr_flags = IBV_SEND_SIGNALED;
        extended->wr_flush(extended, remote.rkey, remote.va, sizeof(Words), flush_global,
                           flush_range);
        CHECK_RC(ibv_wr_complete(extended));
    }

    // 3. The second completion says more than the first: the bytes are in memory.
    client.expect_success("ATOMIC_WRITE");
    client.expect_success("FLUSH");
    client.disconnect();
}

}  // namespace lesson13
