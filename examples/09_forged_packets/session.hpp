// Lesson 09, the server: exposes memory and reports its contents, the queue pair's state and the
// device's counters.
#pragma once

#include <algorithm>
#include <libdeflate.h>
#include <vector>

#include "connection.hpp"
#include "device_counters.hpp"
#include "dialogue.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/memory.hpp"

namespace lesson09 {

constexpr std::chrono::milliseconds exchange_time{10'000};
constexpr std::size_t memory_size = 4096;
constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

class Session {
  public:
    Session(net::Channel& channel, const util::Address& own, runlog::Log& log,
            util::StopSignal& stop)
        : channel_(channel), log_(log), stop_(stop), port_(lesson06::open_port(own)) {}

    void serve() {
        witness_.qp = make_qp(other_pd_.get(), witness_cq_.get());
        connect(witness_, lesson07::random_psn(), random_source, *other_mr_);
        while (true) {
            std::array<std::byte, request_size> bytes{};
            channel_.receive(bytes, {stop_, std::nullopt});
            const Request request = parse_request(bytes);
            if (request.ask == Ask::Done)
                break;
            obey(request.ask);
            channel_.send(serialize(report(request.received)), limit());
        }
        log_.event("memory", common::describe_memory(exposed_));
    }

  private:
    net::TimeLimit limit() { return {stop_, util::deadline_in(exchange_time)}; }

    void obey(Ask ask) {
        switch (ask) {
            case Ask::Connect:
                std::ranges::fill(exposed_, std::byte{0});
                target_.qp = make_qp(pd_.get(), target_cq_.get());
                connect(target_, lesson07::random_psn(), random_source, *exposed_mr_);
                break;
            case Ask::Reconnect:
            case Ask::Renew: {
                const bool is_same = ask == Ask::Reconnect;
                reset(target_.qp.get(), log_);
                connect(target_, is_same ? target_.mine.psn : lesson07::random_psn(),
                        is_same ? reused_source : random_source, *exposed_mr_);
                break;
            }
            case Ask::PostWrite:
                post(IBV_WR_RDMA_WRITE, *outgoing_mr_);
                break;
            case Ask::PostRead:
                std::ranges::fill(returned_, std::byte{0});
                post(IBV_WR_RDMA_READ, *returned_mr_);
                break;
            default:
                break;
        }
    }

    void connect(Link& link, std::uint32_t psn, std::string_view psn_source,
                 const ibv_mr& exposed) {
        link.mine = endpoint_of(*link.qp, psn, port_, &exposed);
        log_.event("psn", {{"qpn", link.mine.qpn}, {"psn", psn}, {"source", psn_source}});
        link.theirs = net::receive_endpoint(channel_, limit());
        net::send_endpoint(channel_, link.mine, limit());
        raise(link, port_, peer_access, no_retry);
        net::barrier(channel_, limit());
    }

    // Posts a request without a valid address, to which the client's queue pair does not respond.
    void post(ibv_wr_opcode opcode, const ibv_mr& local) {
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                    .length = static_cast<std::uint32_t>(local.length),
                    .lkey = local.lkey};
        ibv_send_wr wr{.wr_id = ++posted_,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = opcode,
                       .send_flags = IBV_SEND_SIGNALED};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(target_.qp.get(), &wr, &bad_wr));
    }

    Report report(std::uint64_t at_least) {
        const rdma::Counters counters =
            counters_after(at_least, port_, stop_, util::deadline_in(exchange_time));
        const auto counter = [&](const char* name) {
            const auto it = counters.find(name);
            return it == counters.end() ? std::optional<std::uint64_t>() : it->second;
        };
        ibv_qp_attr attr{};
        ibv_qp_init_attr unused{};
        if (target_.qp)
            CHECK_RC(ibv_query_qp(target_.qp.get(), &attr, IBV_QP_STATE | IBV_QP_RQ_PSN, &unused));
        // The memory of both connections: the witness's must not change either.
        const std::uint32_t memory_crc =
            libdeflate_crc32(common::crc_of(exposed_), other_.data(), other_.size());
        Report report{.state = static_cast<std::uint8_t>(attr.qp_state),
                      .rq_psn = attr.rq_psn,
                      .memory_crc = memory_crc,
                      .read_crc = common::crc_of(returned_),
                      .received = counter("rcvd_pkts"),
                      .sent = counter("sent_pkts"),
                      .duplicate = counter("duplicate_request"),
                      .out_of_sequence = counter("out_of_seq_request")};
        std::copy_n(exposed_.begin(), report.begins.size(), report.begins.begin());
        ibv_wc wc{};
        if (ibv_poll_cq(target_cq_.get(), 1, &wc) == 1)
            report.completion = static_cast<std::uint8_t>(wc.status);
        return report;
    }

    net::Channel& channel_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    lesson06::Port port_;
    rdma::Pd pd_ = make_pd(port_);
    rdma::Pd other_pd_ = make_pd(port_);
    std::vector<std::byte> exposed_ = std::vector<std::byte>(memory_size);
    std::vector<std::byte> other_ = std::vector<std::byte>(memory_size);
    std::vector<std::byte> outgoing_ = common::pattern(message_size, "For the client. ");
    std::vector<std::byte> returned_ = std::vector<std::byte>(message_size);
    rdma::Mr exposed_mr_ =
        register_memory(pd_.get(), exposed_, IBV_ACCESS_LOCAL_WRITE | peer_access);
    rdma::Mr other_mr_ =
        register_memory(other_pd_.get(), other_, IBV_ACCESS_LOCAL_WRITE | peer_access);
    rdma::Mr outgoing_mr_ = register_memory(pd_.get(), outgoing_, 0);
    rdma::Mr returned_mr_ = register_memory(pd_.get(), returned_, IBV_ACCESS_LOCAL_WRITE);
    rdma::Cq witness_cq_ = make_cq(port_);
    rdma::Cq target_cq_ = make_cq(port_);
    Link witness_, target_;
    std::uint64_t posted_ = 0;
};

}  // namespace lesson09
