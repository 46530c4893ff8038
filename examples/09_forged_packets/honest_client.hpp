// Lesson 09, the client: its honest part. A connection as in lesson 07, which can be set up repeatedly,
// and a second pair of queue pairs, the witness.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "dialogue.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "net/tls.hpp"
#include "rdma/completion.hpp"
#include "rdma/describe.hpp"
#include "resources.hpp"
#include "wire/psn.hpp"

namespace lesson09 {

class HonestClient {
  public:
    HonestClient(net::TlsChannel& channel, std::chrono::milliseconds timeout, runlog::Log& log,
                 util::StopSignal& stop)
        : channel_(channel), timeout_(timeout), log_(log), stop_(stop) {
        witness_.qp = make_qp(own_.pd.get(), witness_cq_.get());
        exchange_and_raise(witness_, lesson07::random_psn(), random_source, no_retry);
        witness_psn_ = witness_.mine.psn;
    }

    Resources& own() { return own_; }
    const Link& target() const { return target_; }
    const Link& witness() const { return witness_; }
    const Report& report() const { return report_; }
    net::TimeLimit limit() { return {stop_, util::deadline_in(timeout_)}; }

    /// Sets up a new connection with secret PSNs.
    void connect() {
        make_target();
        ask(Ask::Connect, 0,
            [&] { exchange_and_raise(target_, lesson07::random_psn(), random_source, giving_up); });
    }

    /// Restarts the same queue pairs through RESET. Reconnect: with the same PSNs.
    void connect_again(Ask how) {
        ask(how, 0, [&] {
            reset(target_.qp.get(), log_);
            if (how == Ask::Reconnect)
                exchange_and_raise(target_, target_.mine.psn, reused_source, giving_up);
            else
                exchange_and_raise(target_, lesson07::random_psn(), random_source, giving_up);
        });
    }

    /// Sets up a connection whose client does not respond: its queue pair stays in RESET.
    void connect_deaf() {
        make_target();
        ask(Ask::Connect, 0, [&] {
            exchange_endpoints(target_, lesson07::random_psn(), random_source);
            log_.event("qp_state", {{"qpn", target_.mine.qpn},
                                    {"state", rdma::name_of(IBV_QPS_RESET)},
                                    {"dest_qpn", target_.theirs.qpn}});
            net::barrier(channel_, limit());
        });
    }

    /// Requests `what`, runs `meanwhile` as this side's part, and stores the server's report. The
    /// server reports after its device has received `received` packets.
    template <typename Do = decltype([] {})>
    void ask(Ask what, std::uint64_t received = 0, Do meanwhile = {}) {
        channel_.send(serialize({.ask = what, .received = received}), limit());
        meanwhile();
        std::array<std::byte, report_size> bytes{};
        channel_.receive(bytes, limit());
        report_ = parse_report(bytes);
    }

    /// Performs a WRITE and returns its status, TIMEOUT without a completion. `is_first`: no forged
    /// packet has used its PSN before, so the log may identify its packet.
    std::string_view write(std::string_view text, bool is_first) {
        std::ranges::copy(common::pattern(message_size, text), own_.outgoing.begin());
        ibv_send_wr wr = own_.write_request({.va = target_.theirs.va, .rkey = target_.theirs.rkey},
                                            message_size);
        const rdma::PsnRange psns{target_psn_, target_psn_};
        target_psn_ = (target_psn_ + 1) & wire::Psn::mask;
        log_.event("post_send",
                   rdma::describe(*target_.qp, wr, is_first ? std::optional(psns) : std::nullopt));
        Resources::post(target_.qp.get(), wr);
        const auto wc =
            common::next_completion(target_cq_.get(), stop_, util::deadline_in(timeout_));
        if (!wc)
            return "TIMEOUT";
        log_.event("wc", rdma::describe(*wc));
        return rdma::name_of(wc->status);
    }

    /// Performs a WRITE of no bytes, which needs no rkey (IBTA volume 1, C9-88), and waits for its
    /// ACK. Returns its PSN.
    std::uint32_t witness_writes() {
        const std::uint32_t psn = witness_psn_;
        witness_psn_ = (psn + 1) & wire::Psn::mask;
        ibv_send_wr wr = own_.write_request({}, 0);
        Resources::post(witness_.qp.get(), wr);
        rdma::expect_success(
            common::next_completion(witness_cq_.get(), stop_, util::deadline_in(timeout_)),
            "the witness's WRITE");
        return psn;
    }

    void finish() { channel_.send(serialize({.ask = Ask::Done}), limit()); }

  private:
    void make_target() {
        target_.qp.reset();
        target_.qp = make_qp(own_.pd.get(), target_cq_.get());
    }

    void exchange_endpoints(Link& link, std::uint32_t psn, std::string_view psn_source) {
        link.mine = endpoint_of(*link.qp, psn, own_.port, nullptr);
        log_.event("psn", {{"qpn", link.mine.qpn}, {"psn", psn}, {"source", psn_source}});
        net::send_endpoint(channel_, link.mine, limit());
        link.theirs = net::receive_endpoint(channel_, limit());
        target_psn_ = psn;
    }

    void exchange_and_raise(Link& link, std::uint32_t psn, std::string_view psn_source,
                            const Retry& retry) {
        exchange_endpoints(link, psn, psn_source);
        raise(link, own_.port, 0, retry);
        net::barrier(channel_, limit());
    }

    net::TlsChannel& channel_;
    std::chrono::milliseconds timeout_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    Resources own_{channel_.socket().local()};
    rdma::Cq witness_cq_ = make_cq(own_.port);
    rdma::Cq target_cq_ = make_cq(own_.port);
    Link witness_;
    Link target_;
    std::uint32_t witness_psn_ = 0;  // of the next WRITE
    std::uint32_t target_psn_ = 0;
    Report report_;
};

}  // namespace lesson09
