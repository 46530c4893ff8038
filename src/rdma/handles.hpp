// Verbs objects that free themselves. `.get()` keeps the real verb in sight:
//
//     rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(context))};
//     rdma::Mr mr = rdma::register_memory(pd.get(), buffer, IBV_ACCESS_REMOTE_READ);
//
// Keep members in the order of creation: they are destroyed in reverse order, as verbs require (a
// PD cannot be freed before its MRs). A failed destroy is reported on standard error, never thrown.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <infiniband/verbs.h>

namespace rdma {

void report_failed_destroy(const char* verb, int rc) noexcept;

/// ibv_dealloc_mw and ibv_close_xrcd are inline in verbs.h: each translation unit has its own copy,
/// so that the types below would differ.
int dealloc_mw(ibv_mw* mw) noexcept;
int close_xrcd(ibv_xrcd* xrcd) noexcept;

template <auto Destroy, const char* Name>
struct Deleter {
    template <typename T>
    void operator()(T* object) const noexcept {
        if (const int rc = Destroy(object); rc != 0)
            report_failed_destroy(Name, rc);
    }
};

namespace names {
inline constexpr char close_xrcd[] = "ibv_close_xrcd";
inline constexpr char close_device[] = "ibv_close_device";
inline constexpr char dealloc_pd[] = "ibv_dealloc_pd";
inline constexpr char dealloc_mw[] = "ibv_dealloc_mw";
inline constexpr char dereg_mr[] = "ibv_dereg_mr";
inline constexpr char destroy_cq[] = "ibv_destroy_cq";
inline constexpr char destroy_channel[] = "ibv_destroy_comp_channel";
inline constexpr char destroy_ah[] = "ibv_destroy_ah";
inline constexpr char destroy_qp[] = "ibv_destroy_qp";
inline constexpr char destroy_srq[] = "ibv_destroy_srq";
}  // namespace names

using Context = std::unique_ptr<ibv_context, Deleter<ibv_close_device, names::close_device>>;
using Pd = std::unique_ptr<ibv_pd, Deleter<ibv_dealloc_pd, names::dealloc_pd>>;
using Mr = std::unique_ptr<ibv_mr, Deleter<ibv_dereg_mr, names::dereg_mr>>;
using Mw = std::unique_ptr<ibv_mw, Deleter<dealloc_mw, names::dealloc_mw>>;
using Cq = std::unique_ptr<ibv_cq, Deleter<ibv_destroy_cq, names::destroy_cq>>;
using CompChannel =
    std::unique_ptr<ibv_comp_channel, Deleter<ibv_destroy_comp_channel, names::destroy_channel>>;
using Ah = std::unique_ptr<ibv_ah, Deleter<ibv_destroy_ah, names::destroy_ah>>;
using Xrcd = std::unique_ptr<ibv_xrcd, Deleter<close_xrcd, names::close_xrcd>>;
using Srq = std::unique_ptr<ibv_srq, Deleter<ibv_destroy_srq, names::destroy_srq>>;
using Qp = std::unique_ptr<ibv_qp, Deleter<ibv_destroy_qp, names::destroy_qp>>;

/// Pins `memory` and grants the device `access` to it (IBV_ACCESS_* ORed; deliberately without a
/// default). The memory must outlive the Mr. Throws util::Error; the message mentions the
/// locked-memory limit if it was reached.
Mr register_memory(ibv_pd* pd, std::span<std::byte> memory, int access);

}  // namespace rdma
