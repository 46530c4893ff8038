// The honest side of step 09's client: a connection as in step 07, as often as it is wanted anew,
// and a second pair of queue pairs as witness.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/memory.hpp"
#include "exchange/tls.hpp"
#include "forge/dialogue.hpp"
#include "link.hpp"
#include "verbs/describe.hpp"
#include "verbs/psn.hpp"

class HonestClient {
  public:
    static constexpr std::size_t message_size = 64;

    HonestClient(exchange::TlsChannel& channel, std::chrono::milliseconds timeout, runlog::Log& log,
                 util::StopSignal& stop)
        : channel_(channel), timeout_(timeout), log_(log), stop_(stop) {
        log.event("device", verbs::describe_device(context(), device_.gid.port, &device_.gid));
        witness_.qp = make_qp(pd_.get(), witness_cq_);
        exchange_and_raise(witness_, step07::random_psn(), random_source, patient);
    }

    const verbs::Gid& gid() const { return device_.gid; }
    const Link& target() const { return target_; }
    const Link& witness() const { return witness_; }
    const forge::Report& report() const { return report_; }
    exchange::Patience patience() { return {stop_, util::deadline_in(timeout_)}; }

    /// A new connection with secret PSNs.
    void connect() {
        make_target();
        ask(forge::Ask::Connect,
            [&] { exchange_and_raise(target_, step07::random_psn(), random_source); });
    }

    /// The same queue pairs once more, through RESET. Reconnect: with the PSNs they had.
    void connect_again(forge::Ask how) {
        ask(how, [&] {
            reset(target_.qp.get());
            if (how == forge::Ask::Reconnect)
                exchange_and_raise(target_, target_.mine.psn, reused_source);
            else
                exchange_and_raise(target_, step07::random_psn(), random_source);
        });
    }

    /// A connection whose client answers nothing: its queue pair stays in RESET.
    void connect_deaf() {
        make_target();
        ask(forge::Ask::Connect, [&] {
            exchange_endpoints(target_, step07::random_psn(), random_source);
            log_.event("qp_state", {{"qpn", target_.mine.qpn},
                                    {"state", verbs::name_of(IBV_QPS_RESET)},
                                    {"dest_qpn", target_.theirs.qpn}});
            exchange::meet(channel_, patience());
        });
    }

    /// What the server reports when it has done `what`, and its device has counted as many packets
    /// received.
    void ask(forge::Ask what, std::uint64_t received = 0) {
        ask(
            what, [] {}, received);
    }

    /// A WRITE; its status, TIMEOUT where nothing came of it. `is_first`: no forged packet has had
    /// its PSN before, so that the log may say which packets are its own.
    std::string_view write(std::string_view text, bool is_first) {
        std::ranges::copy(common::pattern(message_size, text), outgoing_.begin());
        ibv_send_wr wr = write_request(target_.theirs.va, target_.theirs.rkey, message_size);
        std::optional<verbs::PsnRange> psns;
        if (is_first)
            psns = verbs::PsnPredictor::of(target_.qp.get()).take(wr.opcode, message_size);
        log_.event("post_send", verbs::describe(*target_.qp, wr, psns));
        post(target_.qp.get(), wr);
        const auto wc = target_cq_.next(stop_, util::deadline_in(timeout_));
        if (!wc)
            return "TIMEOUT";
        log_.event("wc", verbs::describe(*wc));
        return verbs::name_of(wc->status);
    }

    /// A WRITE of no bytes, which needs no key (IBTA volume 1, C9-88), and the wait for its ACK.
    /// Its PSN.
    std::uint32_t witness_writes() {
        const auto psns = verbs::PsnPredictor::of(witness_.qp.get());
        ibv_send_wr wr = write_request(0, 0, 0);
        post(witness_.qp.get(), wr);
        verbs::expect_success(witness_cq_.next(stop_, util::deadline_in(timeout_)),
                              "the witness's WRITE");
        return psns.next();
    }

    /// The rkeys of as many memory regions, registered one after the other.
    std::vector<std::uint32_t> make_rkeys(int count) {
        std::vector<verbs::Mr> regions;
        std::vector<std::uint32_t> rkeys;
        for (int i = 0; i < count; ++i) {
            regions.push_back(verbs::register_memory(
                pd_.get(), outgoing_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
            rkeys.push_back(regions.back()->rkey);
        }
        return rkeys;
    }

    void finish() { channel_.send(forge::serialize({.ask = forge::Ask::Done}), patience()); }

  private:
    // A WRITE to a queue pair in ERR is to fail soon: three times 0.5 s. The witness waits behind
    // thousands of packets, and a repetition would be counted with them: after 8.6 s.
    static constexpr verbs::RetryPolicy giving_up{.timeout = 17, .retry_cnt = 2};
    static constexpr verbs::RetryPolicy patient{.timeout = 21, .retry_cnt = 1};

    ibv_context* context() const { return device_.context.get(); }

    void make_target() {
        target_.qp.reset();
        target_.qp = make_qp(pd_.get(), target_cq_);
    }

    template <typename Do>
    void ask(forge::Ask what, Do meanwhile, std::uint64_t received = 0) {
        channel_.send(forge::serialize({.ask = what, .received = received}), patience());
        meanwhile();
        std::array<std::byte, forge::report_size> bytes{};
        channel_.receive(bytes, patience());
        report_ = forge::parse_report(bytes);
    }

    void exchange_endpoints(Link& link, std::uint32_t psn, std::string_view psn_source) {
        link.mine = endpoint_of(*link.qp, psn, device_.gid, nullptr);
        announce(link.mine, psn_source, log_);
        exchange::send_endpoint(channel_, link.mine, patience());
        link.theirs = exchange::receive_endpoint(channel_, patience());
    }

    void exchange_and_raise(Link& link, std::uint32_t psn, std::string_view psn_source,
                            const verbs::RetryPolicy& retry = giving_up) {
        exchange_endpoints(link, psn, psn_source);
        raise(link, device_.gid, 0, retry);
        log_.event("qp_state", verbs::query_state(link.qp.get()));
        exchange::meet(channel_, patience());
    }

    ibv_send_wr write_request(std::uint64_t va, std::uint32_t rkey, std::uint32_t length) {
        piece_ = {.addr = reinterpret_cast<std::uintptr_t>(outgoing_.data()),
                  .length = length,
                  .lkey = outgoing_mr_->lkey};
        ibv_send_wr wr{};
        wr.wr_id = ++posted_;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece_;
        wr.num_sge = length == 0 ? 0 : 1;
        wr.wr.rdma.remote_addr = va;
        wr.wr.rdma.rkey = rkey;
        return wr;
    }

    static void post(ibv_qp* qp, ibv_send_wr& wr) {
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(qp, &wr, &refused), "ibv_post_send");
    }

    exchange::TlsChannel& channel_;
    std::chrono::milliseconds timeout_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    verbs::DevicePort device_ = verbs::open_device_of(channel_.socket().local());
    verbs::Pd pd_{util::check_ptr(ibv_alloc_pd(context()), "ibv_alloc_pd")};
    std::vector<std::byte> outgoing_ = std::vector<std::byte>(message_size);
    verbs::Mr outgoing_mr_ = verbs::register_memory(pd_.get(), outgoing_, 0);
    verbs::CompletionQueue witness_cq_{context(), 4};
    verbs::CompletionQueue target_cq_{context(), 16};
    Link witness_;
    Link target_;
    ibv_sge piece_{};
    std::uint64_t posted_ = 0;
    forge::Report report_;
};
