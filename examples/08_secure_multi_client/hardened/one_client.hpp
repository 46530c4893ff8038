// Lesson 08, hardened, the client: a client as in lesson 07, with timing, a SEND per round, and an orderly close.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "net/tls.hpp"
#include "report.hpp"
#include "runlog/log.hpp"
#include "setup_times.hpp"

namespace lesson08 {

/// What all clients of a process share.
struct Process {
    util::StopSignal& stop;
    net::TlsContext& tls;
    util::Address server;
    std::optional<util::Address> source;
    lesson06::Port port;
    std::chrono::milliseconds timeout;
    std::uint64_t operations;
    std::uint64_t length;

    net::TimeLimit limit() const { return {stop, util::deadline_in(timeout)}; }
};

class OneClient {
  public:
    /// `log`: null: does not log the exchange.
    OneClient(const Process& process, runlog::Log* log, unsigned number)
        : process_(process),
          log_(log),
          outgoing_(common::pattern(process.length, fmt::format("Client {}. ", number))),
          returned_(process.length) {}

    // 1. As in lesson 07, phase by phase.
    void connect() {
        const net::TimeLimit limit = process_.limit();
        Stopwatch watch;
        net::Socket socket = net::connect_tcp(process_.server, process_.source, limit);
        times_.tcp += watch.lap();
        channel_.emplace(process_.tls, std::move(socket), limit);
        times_.tls += watch.lap();
        make_queue_pair();
        net::Endpoint mine{.qpn = qp_->qp_num,
                           .psn = lesson07::random_psn(),
                           .lid = process_.port.lid,
                           .path_mtu = process_.port.path_mtu};
        std::memcpy(mine.gid.data(), process_.port.gid.raw, mine.gid.size());
        times_.qp += watch.lap();
        net::send_endpoint(*channel_, mine, limit);
        const net::Endpoint theirs = net::receive_endpoint(*channel_, limit);
        times_.exchange += watch.lap();
        if (theirs.length < process_.length)
            throw util::Error(fmt::format(
                "the server exposes {} bytes, fewer than --length {}. Start it with a larger "
                "--memory.",
                theirs.length, process_.length));
        remote_ = {.va = theirs.va, .rkey = theirs.rkey};
        lesson06::to_init(qp_.get(), process_.port, 0);
        lesson06::to_rtr(qp_.get(), process_.port, theirs);
        lesson06::to_rts(qp_.get(), mine.psn);
        times_.qp += watch.lap();
        net::barrier(*channel_, limit);
        times_.exchange += watch.lap();
        if (log_ == nullptr)
            return;
        log_->event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
        log_->event("exchange", net::describe(mine, "sent", channel_->name()));
        log_->event("exchange", net::describe(theirs, "received", channel_->name()));
    }

    // 2. WRITE and READ involve only the server's device; the SEND tells its program about them.
    void work() {
        std::uint64_t wr_id = 0;
        for (std::uint64_t round = 0; round < process_.operations; ++round) {
            std::ranges::fill(returned_, std::byte{0});
            common::transfer(qp_.get(), ++wr_id, IBV_WR_RDMA_WRITE, *outgoing_mr_, remote_,
                             process_.stop, process_.timeout);
            common::transfer(qp_.get(), ++wr_id, IBV_WR_RDMA_READ, *returned_mr_, remote_,
                             process_.stop, process_.timeout);
            if (!std::ranges::equal(outgoing_, returned_))
                throw util::Error("the bytes READ back differ from the bytes written.");
            Report{1, outgoing_.size(), 1, returned_.size()}.write_to(report_);
            common::transfer(qp_.get(), ++wr_id, IBV_WR_SEND, *report_mr_, {}, process_.stop,
                             process_.timeout);
        }
    }

    // 3. This client has no outstanding requests: the server may drain and destroy its queue pair,
    // and this side then its own.
    void disconnect() {
        net::finish(*channel_, process_.limit());
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        util::check_rc(ibv_modify_qp(qp_.get(), &attr, IBV_QP_STATE), "ibv_modify_qp(to ERR)");
        ibv_wc wc{};
        if (ibv_poll_cq(cq_.get(), 1, &wc) != 0)
            throw util::Error("a request was still outstanding at the end.");
        qp_.reset();
        channel_->close(process_.limit());
    }

    const PhaseTimes& times() const { return times_; }

  private:
    void make_queue_pair() {
        pd_.reset(CHECK_PTR(ibv_alloc_pd(process_.port.context.get())));
        const auto register_memory = [&](std::span<std::byte> bytes, int access) {
            return rdma::Mr{CHECK_PTR(ibv_reg_mr(pd_.get(), bytes.data(), bytes.size(), access))};
        };
        outgoing_mr_ = register_memory(outgoing_, 0);
        returned_mr_ = register_memory(returned_, IBV_ACCESS_LOCAL_WRITE);
        report_mr_ = register_memory(report_, 0);
        cq_.reset(CHECK_PTR(ibv_create_cq(process_.port.context.get(), 1, nullptr, nullptr, 0)));
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = cq_.get();
        attributes.recv_cq = cq_.get();
        attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 1;
        attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
        qp_.reset(CHECK_PTR(ibv_create_qp(pd_.get(), &attributes)));
    }

    const Process& process_;
    runlog::Log* log_;
    PhaseTimes times_;
    std::optional<net::TlsChannel> channel_;
    std::vector<std::byte> outgoing_, returned_;
    std::array<std::byte, Report::size> report_{};
    common::RemoteMemory remote_;
    rdma::Pd pd_;
    rdma::Mr outgoing_mr_, returned_mr_, report_mr_;
    rdma::Cq cq_;
    rdma::Qp qp_;
};

}  // namespace lesson08
