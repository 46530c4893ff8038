// The apparatus around a forgery: an honest connection, a capture beside it, and a second pair of
// queue pairs as witness. A packet of the witness that follows a forged one, and is answered, says
// that the server's device has come so far: nothing here waits for a time to pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/psn_source.hpp"
#include "exchange/tls.hpp"
#include "forge/dialogue.hpp"
#include "forge/packets.hpp"
#include "forge/raw_sender.hpp"
#include "lesson/memory.hpp"
#include "lesson/program.hpp"
#include "lesson/transfer.hpp"
#include "link.hpp"
#include "util/error.hpp"
#include "verbs/describe.hpp"

/// By how much a counter has grown; 0 where the device has no such one.
inline std::uint64_t grown(const std::optional<std::uint64_t>& before,
                           const std::optional<std::uint64_t>& after) {
    return before && after ? *after - *before : 0;
}

/// What was seen of a forged packet's effects.
struct Trial {
    forge::Report before;
    forge::Report after;
    std::vector<std::string>
        answers;  // the server's to the target: "ACK", "NAK Remote Access Error"

    bool changed_memory() const { return before.memory_crc != after.memory_crc; }
    std::string_view state() const {
        return verbs::name_of(static_cast<ibv_qp_state>(after.state));
    }
    /// Empty where the server's request has not completed.
    std::string_view completion() const {
        return after.completion == forge::Report::none
                   ? std::string_view()
                   : verbs::name_of(static_cast<ibv_wc_status>(after.completion));
    }
};

class Stage {
  public:
    static constexpr std::size_t message_size = 64;

    Stage(exchange::TlsChannel& channel, forge::RawSender& sender,
          std::chrono::milliseconds timeout, runlog::Log& log, util::StopSignal& stop)
        : channel_(channel), sender_(sender), timeout_(timeout), log_(log), stop_(stop) {
        sender_.use(device_.gid.netdev());
        log.event("device", verbs::describe_device(context(), device_.gid.port, &device_.gid));
        witness_.qp = make_qp(pd_.get(), witness_cq_);
        exchange_and_raise(witness_, exchange::random_psn(), random_source, patient);
        report_ = {};
    }

    const Link& target() const { return target_; }
    const Link& witness() const { return witness_; }

    /// A new connection with secret PSNs, and a first honest WRITE of it, as the attacker saw it.
    forge::Seen connect(std::string_view text) {
        target_.qp.reset();
        target_.qp = make_qp(pd_.get(), target_cq_);
        ask(forge::Ask::Connect,
            [&] { exchange_and_raise(target_, exchange::random_psn(), random_source); });
        return see_write(text);
    }

    /// The same queue pairs once more, through RESET. Reconnect: with the PSNs they had.
    void connect_again(forge::Ask how) {
        ask(how, [&] {
            reset(target_.qp.get());
            if (how == forge::Ask::Reconnect)
                exchange_and_raise(target_, target_.mine.psn, reused_source);
            else
                exchange_and_raise(target_, exchange::random_psn(), random_source);
        });
    }

    /// A connection whose client answers nothing: its queue pair stays in RESET.
    void connect_deaf() {
        target_.qp.reset();
        target_.qp = make_qp(pd_.get(), target_cq_);
        ask(forge::Ask::Connect, [&] {
            exchange_endpoints(target_, exchange::random_psn(), random_source);
            log_.event("qp_state", {{"qpn", target_.mine.qpn},
                                    {"state", verbs::name_of(IBV_QPS_RESET)},
                                    {"dest_qpn", target_.theirs.qpn}});
            exchange::meet(channel_, patience());
        });
    }

    /// An honest WRITE; its status, TIMEOUT where nothing came of it. `is_first`: no forged packet
    /// has had its PSN before, so that the log may say which packets are its own.
    std::string_view write(std::string_view text, bool is_first) {
        const auto bytes = lesson::pattern(message_size, text);
        std::ranges::copy(bytes, outgoing_.begin());
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

    /// An honest WRITE that must succeed, and its packet.
    forge::Seen see_write(std::string_view text) {
        if (const auto status = write(text, true); status != "SUCCESS")
            throw util::Error("an honest WRITE failed: " + std::string(status) + ".");
        return see_packet("the WRITE just sent", [&](const wire::Packet& packet) {
            return packet.reth && packet.bth->dest_qpn == target_.theirs.qpn;
        });
    }

    /// The server posts a request that stays unanswered; its packet.
    forge::Seen see_request(forge::Ask how) {
        ask(how, [] {});
        return see_packet("the server's request", [&](const wire::Packet& packet) {
            return packet.reth && packet.bth->dest_qpn == target_.mine.qpn;
        });
    }

    /// The server's state when its device has worked through all that was sent before.
    forge::Report observe() {
        answers_.clear();
        const std::uint32_t psn = witness_sends();
        for (const forge::Seen& seen : sniffer_.until(
                 [&](const wire::Packet& packet) {
                     return packet.aeth && packet.bth->dest_qpn == witness_.mine.qpn &&
                            packet.bth->psn.value() == psn;
                 },
                 "the witness's ACK", stop_, util::deadline_in(timeout_)))
            note_answer(seen.packet());
        ask(
            forge::Ask::Report, [] {}, report_.received.value_or(0) + 1);
        return report_;
    }

    Trial attempt(const forge::Frame& frame) {
        return around([&] { sender_.send(frame); });
    }

    struct Burst {
        Trial trial;
        std::uint64_t received = 0;  // by the server's device, of the packets sent
        double seconds = 0;          // from the first packet to the answer behind the last

        double rate() const { return static_cast<double>(received) / seconds; }
    };

    Burst burst(const std::vector<forge::Frame>& frames) {
        Burst burst;
        util::Clock::time_point start;
        burst.trial = around([&] {
            start = util::Clock::now();
            for (const forge::Frame& frame : frames)
                sender_.send(frame);
            witness_sends();
            burst.seconds = std::chrono::duration<double>(util::Clock::now() - start).count();
        });
        constexpr std::uint64_t witnesses = 2;
        const auto& [before, after, answers] = burst.trial;
        burst.received = before.received && after.received
                             ? *after.received - *before.received - witnesses
                             : frames.size();
        return burst;
    }

    /// What an honest WRITE comes to; its status in `status`.
    Trial attempt_honest(std::string_view text, std::string_view& status) {
        return around([&] { status = write(text, false); });
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
    // An honest WRITE to a queue pair in ERR is to fail soon: three times 0.5 s. The witness waits
    // behind a thousand packets, and a repetition would be counted with them: after 2.1 s.
    static constexpr verbs::Repetition giving_up{.timeout = 17, .count = 2};
    static constexpr verbs::Repetition patient{.timeout = 19, .count = 1};

    template <typename Do>
    Trial around(Do what) {
        Trial trial{.before = observe(), .after = {}, .answers = {}};
        what();
        trial.after = observe();
        trial.answers = answers_;
        return trial;
    }

    ibv_context* context() const { return device_.context.get(); }
    exchange::Patience patience() { return {stop_, util::deadline_in(timeout_)}; }

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
                            const verbs::Repetition& repetition = giving_up) {
        exchange_endpoints(link, psn, psn_source);
        raise(link, device_.gid, 0, repetition);
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

    // A WRITE of no bytes needs no key (IBTA volume 1, C9-88). Its PSN.
    std::uint32_t witness_sends() {
        auto psns = verbs::PsnPredictor::of(witness_.qp.get());
        ibv_send_wr wr = write_request(0, 0, 0);
        post(witness_.qp.get(), wr);
        verbs::expect_success(witness_cq_.next(stop_, util::deadline_in(timeout_)),
                              "the witness's WRITE");
        return psns.next();
    }

    forge::Seen see_packet(std::string_view what, const forge::Sniffer::Test& test) {
        return sniffer_.until(test, what, stop_, util::deadline_in(timeout_)).back();
    }

    void note_answer(const wire::Packet& packet) {
        if (!packet.aeth || packet.bth->dest_qpn != target_.mine.qpn)
            return;
        std::string text(wire::name(packet.aeth->kind()));
        if (const auto name = packet.aeth->nak_name())
            text += " " + std::string(*name);
        answers_.push_back(std::move(text));
    }

    exchange::TlsChannel& channel_;
    forge::RawSender& sender_;
    std::chrono::milliseconds timeout_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    verbs::DevicePort device_ = verbs::open_device_of(channel_.socket().local());
    forge::Sniffer sniffer_{device_.gid.netdev()};
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
    std::vector<std::string> answers_;
};
