#include "bench/transfer/link.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/rc_states.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace bench {
namespace {

constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::align_val_t page{4096};
// 1.07 s: long enough that an emulated machine does not retransmit what is only late.
constexpr common::RetryPolicy retransmission{.timeout = 18, .retry_cnt = 7};

// READs in flight: the device's maximum, as in perftest.
std::uint8_t reads_of(ibv_context* context) {
    ibv_device_attr attributes{};
    CHECK_RC(ibv_query_device(context, &attributes));
    return static_cast<std::uint8_t>(std::clamp(attributes.max_qp_rd_atom, 1, 128));
}

ibv_qp_init_attr attributes_of(const Plan& plan, ibv_cq* cq) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq;
    attributes.recv_cq = cq;
    const auto depth = static_cast<std::uint32_t>(plan.depth);
    attributes.cap = {
        .max_send_wr = depth,
        .max_recv_wr = depth,
        .max_send_sge = 1,
        .max_recv_sge = 1,
        .max_inline_data = plan.is_latency() && plan.size <= wanted_inline ? wanted_inline : 0};
    return attributes;
}

}  // namespace

void Link::Free::operator()(std::byte* memory) const noexcept {
    ::operator delete[](memory, page);
}

Link::Link(net::Channel& channel, const util::Address& local, const Plan& plan,
           const net::TimeLimit& limit)
    : size_(plan.size),
      device_(rdma::open_device_of(local)),
      pd_(CHECK_PTR(ibv_alloc_pd(device_.context.get()))),
      memory_(new (page) std::byte[2 * plan.size]{}),
      mr_(rdma::register_memory(pd_.get(), {memory_.get(), 2 * plan.size}, access_rights)),
      completions_(device_.context.get(), static_cast<int>(2 * plan.depth)) {
    ibv_qp_init_attr attributes = attributes_of(plan, completions_.cq.get());
    qp_.reset(CHECK_PTR(ibv_create_qp(pd_.get(), &attributes)));
    most_inline_ = attributes.cap.max_inline_data;

    const rdma::Gid& gid = device_.gid;
    const ibv_port_attr port = rdma::query_port(device_.context.get(), gid.port);
    net::Endpoint mine{.qpn = qp_->qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = static_cast<std::uint16_t>(rdma::bytes_of(port.active_mtu)),
                       .va = reinterpret_cast<std::uintptr_t>(incoming().data()),
                       .length = size_,
                       .rkey = mr_->rkey};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    if (theirs.length != size_)
        throw util::Error("the other end measures messages of " + std::to_string(theirs.length) +
                          " bytes, and this one of " + std::to_string(size_) +
                          ": give both the same --size.");
    remote_incoming_ = theirs.va;
    rkey_ = theirs.rkey;

    common::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    const std::uint8_t reads = reads_of(device_.context.get());
    common::to_init(qp_.get(), gid.port, access_rights);
    common::to_rtr(qp_.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu), reads);
    common::to_rts(qp_.get(), mine.psn, retransmission, reads);
}

ibv_send_wr Link::request(ibv_wr_opcode opcode, ibv_sge& sge) const {
    const std::span<std::byte> local = opcode == IBV_WR_RDMA_READ ? incoming() : outgoing();
    sge = {.addr = reinterpret_cast<std::uintptr_t>(local.data()),
           .length = static_cast<std::uint32_t>(local.size()),
           .lkey = mr_->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.wr.rdma.remote_addr = remote_incoming_;
    wr.wr.rdma.rkey = rkey_;
    return wr;
}

void Link::post_receive() const {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(incoming().data()),
                .length = static_cast<std::uint32_t>(size_),
                .lkey = mr_->lkey};
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    CHECK_RC(ibv_post_recv(qp_.get(), &wr, &bad));
}

ibv_wc await_completion(Link& link, bool is_polling, const net::TimeLimit& limit) {
    constexpr std::string_view what = "a request of the measurement";
    if (!is_polling)
        return rdma::expect_success(link.completions().next(limit.stop, limit.deadline), what);
    ibv_wc wc{};
    int found = 0;
    spin_until(limit, [&] {
        found = ibv_poll_cq(link.completions().cq.get(), 1, &wc);
        return found != 0;
    });
    if (found < 0)
        throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
    return rdma::expect_success(wc, what);
}

void check_limit(const net::TimeLimit& limit) {
    if (limit.stop.requested())
        throw util::Error("stopped before the measurement was done.");
    if (util::is_past(limit.deadline))
        throw util::Error("the other end does not respond: has it ended?");
}

}  // namespace bench
