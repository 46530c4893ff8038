#include "rdma/psn.hpp"

#include "rdma/names.hpp"
#include "rdma/psn_count.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace rdma {

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
    const std::uint32_t count = psn_count(opcode, length, path_mtu_);
    if (count == 0)
        return std::nullopt;
    const PsnRange range{next_, (next_ + count - 1) & psn_mask};
    next_ = (next_ + count) & psn_mask;
    return range;
}

}  // namespace rdma
