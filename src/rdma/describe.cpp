#include "rdma/describe.hpp"

#include <arpa/inet.h>
#include <span>

#include "rdma/names.hpp"
#include "util/check.hpp"

namespace rdma {

namespace key = runlog::key;

namespace {

bool has_immediate(ibv_wr_opcode opcode) {
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool is_one_sided(ibv_wr_opcode opcode) {
    return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
           opcode == IBV_WR_RDMA_READ;
}

bool is_atomic(ibv_wr_opcode opcode) {
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

}  // namespace

runlog::Fields query_state(ibv_qp* qp) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    const int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN | IBV_QP_DEST_QPN |
                     IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                     IBV_QP_RNR_RETRY;
    CHECK_RC(ibv_query_qp(qp, &attr, mask, &init));
    return {{key::qpn, qp->qp_num},
            {key::state, name_of(attr.qp_state)},
            {key::dest_qpn, attr.dest_qp_num},
            {key::sq_psn, attr.sq_psn},
            {key::rq_psn, attr.rq_psn},
            {key::path_mtu, bytes_of(attr.path_mtu)},
            {key::gid_index, attr.ah_attr.grh.sgid_index},
            {key::timeout, attr.timeout},
            {key::retry_cnt, attr.retry_cnt},
            {key::rnr_retry, attr.rnr_retry}};
}

runlog::Fields describe(const ibv_qp& qp, const ibv_send_wr& wr, std::optional<PsnRange> psns) {
    runlog::Fields fields{{key::qpn, qp.qp_num},
                          {key::wr_id, wr.wr_id},
                          {key::opcode, name_of(wr.opcode)},
                          {key::len, length_of(wr)}};
    if (is_one_sided(wr.opcode)) {
        fields.emplace_back(key::remote_va, wr.wr.rdma.remote_addr);
        fields.emplace_back(key::rkey, wr.wr.rdma.rkey);
    } else if (is_atomic(wr.opcode)) {
        fields.emplace_back(key::remote_va, wr.wr.atomic.remote_addr);
        fields.emplace_back(key::rkey, wr.wr.atomic.rkey);
        const bool is_add = wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
        fields.emplace_back(is_add ? key::add : key::compare, wr.wr.atomic.compare_add);
        if (!is_add)
            fields.emplace_back(key::swap, wr.wr.atomic.swap);
    }
    if (qp.qp_type == IBV_QPT_UD) {
        fields.emplace_back(key::dest_qpn, wr.wr.ud.remote_qpn);
        fields.emplace_back(key::q_key, wr.wr.ud.remote_qkey);
    }
    if (qp.qp_type == IBV_QPT_XRC_SEND)
        fields.emplace_back(key::srqn, wr.qp_type.xrc.remote_srqn);
    if (has_immediate(wr.opcode))
        fields.emplace_back(key::imm, ntohl(wr.imm_data));
    if (psns) {
        fields.emplace_back(key::psn_first, psns->first);
        fields.emplace_back(key::psn_last, psns->last);
    }
    return fields;
}

runlog::Fields describe(const ibv_wc& wc) {
    runlog::Fields fields{
        {key::qpn, wc.qp_num}, {key::wr_id, wc.wr_id}, {key::status, name_of(wc.status)}};
    // After an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if (wc.status != IBV_WC_SUCCESS) {
        fields.emplace_back(key::vendor_err, wc.vendor_err);
        return fields;
    }
    fields.emplace_back(key::opcode, name_of(wc.opcode));
    fields.emplace_back(key::byte_len, wc.byte_len);
    // Only a receive completion has it, whatever flags the requester's driver sets.
    if ((wc.opcode & IBV_WC_RECV) != 0 && (wc.wc_flags & IBV_WC_WITH_IMM) != 0)
        fields.emplace_back(key::imm, ntohl(wc.imm_data));
    return fields;
}

std::uint64_t length_of(const ibv_send_wr& wr) {
    std::uint64_t length = 0;
    for (const ibv_sge& sge : std::span(wr.sg_list, static_cast<std::size_t>(wr.num_sge)))
        length += sge.length;
    return length;
}

}  // namespace rdma
