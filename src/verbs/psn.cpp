#include "verbs/psn.hpp"

#include <algorithm>

#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/names.hpp"

namespace verbs {
namespace {

constexpr std::uint32_t psn_mask = 0xffffff;

}  // namespace

PsnPredictor::PsnPredictor(std::uint32_t sq_psn, unsigned path_mtu)
    : next_(sq_psn & psn_mask), path_mtu_(path_mtu) {
    if (path_mtu == 0)
        throw util::Error(
            "the queue pair has no path MTU yet: PSNs can be predicted once it is connected.");
}

PsnPredictor PsnPredictor::of(ibv_qp* qp) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    util::check_rc(ibv_query_qp(qp, &attr, IBV_QP_SQ_PSN | IBV_QP_PATH_MTU, &init), "ibv_query_qp");
    return {attr.sq_psn, bytes_of(attr.path_mtu)};
}

std::optional<PsnRange> PsnPredictor::take(ibv_wr_opcode opcode, std::uint64_t length) {
    std::uint64_t packets = 0;
    switch (opcode) {
        case IBV_WR_LOCAL_INV:
        case IBV_WR_BIND_MW:
            return std::nullopt;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            packets = 1;
            break;
        default:
            packets = std::max<std::uint64_t>(1, (length + path_mtu_ - 1) / path_mtu_);
    }
    const auto count = static_cast<std::uint32_t>(packets & psn_mask);
    const PsnRange range{next_, (next_ + count - 1) & psn_mask};
    next_ = (next_ + count) & psn_mask;
    return range;
}

}  // namespace verbs
