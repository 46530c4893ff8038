#include "tests/faults/end.hpp"

#include <algorithm>
#include <cstring>

#include "examples/common/memory.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace faults {

namespace {

constexpr std::size_t grh_size = 40;  // before a datagram in its receive buffer
constexpr std::uint32_t psn_mask = 0xffffff;

ibv_qp_type type_of(const std::string& name) {
    if (name == "rc")
        return IBV_QPT_RC;
    if (name == "uc")
        return IBV_QPT_UC;
    if (name == "ud")
        return IBV_QPT_UD;
    throw util::Error("--transport is rc, uc or ud, not '" + name + "'.");
}

void modify(ibv_qp* qp, ibv_qp_attr& attributes, int mask, const char* what) {
    util::check_rc(ibv_modify_qp(qp, &attributes, mask), what);
}

}  // namespace

unsigned rights_of(const std::string& names) {
    unsigned rights = 0;
    for (std::size_t begin = 0; begin < names.size() && names != "none";) {
        const std::size_t end = std::min(names.find(',', begin), names.size());
        const std::string name = names.substr(begin, end - begin);
        if (name == "write")
            rights |= IBV_ACCESS_REMOTE_WRITE;
        else if (name == "read")
            rights |= IBV_ACCESS_REMOTE_READ;
        else if (name == "atomic")
            rights |= IBV_ACCESS_REMOTE_ATOMIC;
        else
            throw util::Error("a right is write, read or atomic, not '" + name + "'.");
        begin = end + 1;
    }
    return rights;
}

End::End(const net::Socket& socket, const Options& options, unsigned qp_access)
    : options_(options),
      type_(type_of(options.transport)),
      access_(qp_access),
      device_(rdma::open_device_of(socket.local())),
      gid_index_(static_cast<std::uint8_t>(
          options.sgid_index == Options::no_index ? device_.gid.index : options.sgid_index)),
      pd_(CHECK_PTR(ibv_alloc_pd(device_.context.get()))),
      other_pd_(CHECK_PTR(ibv_alloc_pd(device_.context.get()))),
      bytes_(common::pattern(options.length + grh_size, "Fault corpus. ")),
      buffer_(CHECK_PTR(ibv_reg_mr(options.buffer_of_other_pd ? other_pd_.get() : pd_.get(),
                                   bytes_.data(), bytes_.size(),
                                   options.read_only_buffer ? 0 : IBV_ACCESS_LOCAL_WRITE))),
      cq_(CHECK_PTR(ibv_create_cq(device_.context.get(), static_cast<int>(options.cq_size), nullptr,
                                  nullptr, 0))),
      psn_(0) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = type_;
    attributes.send_cq = cq_.get();
    attributes.recv_cq = cq_.get();
    attributes.cap = {.max_send_wr = static_cast<std::uint32_t>(options.depth),
                      .max_recv_wr = 4096,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    qp_.reset(CHECK_PTR(ibv_create_qp(pd_.get(), &attributes)));
    psn_ = (qp_->qp_num * 0x9e3779b1U >> 8) & psn_mask;  // different for each queue pair
}

net::Endpoint End::own() const {
    net::Endpoint endpoint{.qpn = qp_->qp_num,
                           .psn = static_cast<std::uint32_t>(psn_ + options_.psn_offset) & psn_mask,
                           .path_mtu = static_cast<std::uint16_t>(options_.path_mtu)};
    std::memcpy(endpoint.gid.data(), device_.gid.raw.raw, endpoint.gid.size());
    return endpoint;
}

void End::to_init() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.pkey_index = static_cast<std::uint16_t>(options_.pkey_index);
    attributes.port_num = device_.gid.port;
    attributes.qp_access_flags = access_;
    attributes.qkey = static_cast<std::uint32_t>(options_.qkey);
    modify(qp(), attributes,
           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
               (type_ == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
           "ibv_modify_qp(RESET to INIT)");
}

ibv_ah_attr End::path_to(const net::Endpoint& peer) const {
    ibv_ah_attr path{};
    path.is_global = 1;
    path.port_num = device_.gid.port;
    path.grh.sgid_index = gid_index_;
    path.grh.hop_limit = 64;
    std::memcpy(path.grh.dgid.raw, peer.gid.data(), peer.gid.size());
    if (!options_.destination.empty()) {
        const auto address = util::Address::parse(options_.destination);
        if (!address)
            throw util::Error("--destination is an address, not '" + options_.destination + "'.");
        std::memcpy(path.grh.dgid.raw, address->ipv6_bytes().data(), peer.gid.size());
    }
    return path;
}

void End::to_rtr(const net::Endpoint& peer) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    int mask = IBV_QP_STATE;
    if (type_ != IBV_QPT_UD) {
        attributes.path_mtu = rdma::mtu_of(static_cast<unsigned>(options_.path_mtu));
        attributes.dest_qp_num = remote_qpn_;
        attributes.rq_psn = peer.psn;
        attributes.ah_attr = path_to(peer);
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    }
    if (type_ == IBV_QPT_RC) {
        attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(options_.accepted_reads);
        attributes.min_rnr_timer = static_cast<std::uint8_t>(options_.rnr_timer);
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    modify(qp(), attributes, mask, "ibv_modify_qp(INIT to RTR)");
}

void End::to_rts() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = psn_;
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (type_ == IBV_QPT_RC) {
        attributes.timeout = static_cast<std::uint8_t>(options_.ack_timeout);
        attributes.retry_cnt = static_cast<std::uint8_t>(options_.retry_cnt);
        attributes.rnr_retry = static_cast<std::uint8_t>(options_.rnr_retry);
        attributes.max_rd_atomic = static_cast<std::uint8_t>(options_.reads);
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    modify(qp(), attributes, mask, "ibv_modify_qp(RTR to RTS)");
}

void End::connect(const net::Endpoint& peer) {
    if (options_.stay_in_init)
        return;
    remote_qpn_ = static_cast<std::uint32_t>(peer.qpn + options_.qpn_offset) & psn_mask;
    to_rtr(peer);
    if (type_ == IBV_QPT_UD) {
        ibv_ah_attr path = path_to(peer);
        ah_.reset(CHECK_PTR(ibv_create_ah(pd(), &path)));
    }
    to_rts();
}

void End::to_state(ibv_qp_state state) {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    modify(qp(), attributes, IBV_QP_STATE, "ibv_modify_qp");
}

ibv_sge End::buffer() const {
    return {.addr = reinterpret_cast<std::uintptr_t>(bytes_.data()) + options_.sge_offset,
            .length = static_cast<std::uint32_t>(options_.length),
            .lkey = static_cast<std::uint32_t>(buffer_->lkey + options_.lkey_offset)};
}

void End::address(ibv_send_wr& wr) const {
    wr.wr.ud.ah = ah_.get();
    wr.wr.ud.remote_qpn = remote_qpn_;
    wr.wr.ud.remote_qkey = static_cast<std::uint32_t>(options_.qkey);
}

}  // namespace faults
