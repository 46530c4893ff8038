// A simulated run: a requester and a responder that conform to the specification, and a path that
// loses, doubles or delays packets. Each host has a capture and a log, as in a real run, and what the
// path did is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/scene.hpp"
#include "trace/simulate/requester.hpp"
#include "trace/simulate/responder.hpp"

namespace explain_test {

/// Shares are in thousandths, times in nanoseconds.
struct Conditions {
    unsigned lost_requests = 0, lost_responses = 0, doubled = 0;
    unsigned overtaken_requests = 0, overtaken_responses = 0;
    std::int64_t delay_ns = 50'000, jitter_ns = 30'000;  ///< of the path
    std::int64_t answer_ns = 20'000;                     ///< that the responder takes for a packet
    unsigned slow = 0;                                   ///< answers that take `slow_ns` more
    std::int64_t slow_ns = 0;
    unsigned not_ready = 0;  ///< SENDs that find no receive
    unsigned reads = 250;    ///< of the messages
    unsigned messages = 200, window = 8;
    std::int64_t pause_ns = 1'000'000;  ///< at most, between two posts
    unsigned timeout = 14;
    /// From this time on, the path is cut in one direction; 0: never.
    std::int64_t requests_end_ns = 0, responses_end_ns = 0;
    /// The timer runs on when all requests are acknowledged, as in Soft-RoCE, and may expire early.
    bool has_running_timer = false;
    bool has_ip_ids = true;
    /// The responder acknowledges each copy that it has executed before, as Soft-RoCE does; otherwise, those that ask for it.
    bool acknowledges_each_copy = true;
};

struct Captured {
    std::int64_t t_ns = 0;
    std::vector<std::byte> frame;
};

class SimulatedRun : simulate::Requester::User, simulate::Responder::User {
  public:
    SimulatedRun(std::uint32_t seed, const Conditions& conditions)
        : random_(seed),
          is_(conditions),
          requester_(
              events_, *this,
              {.timeout = conditions.timeout, .has_running_timer = conditions.has_running_timer}),
          responder_(events_, *this, {.ack = syndrome::ack, .rnr = syndrome::rnr},
                     conditions.acknowledges_each_copy) {
        std::uint32_t place = 0;
        for (unsigned i = 0; i < is_.messages; ++i) {
            const std::uint32_t packets = 1 + random_() % 4;
            const bool is_read = chance(is_.reads);
            messages_.push_back({.first = place, .psns = packets, .wants_data = is_read});
            for (std::uint32_t k = 0; k < packets; ++k)
                of_.push_back(i);
            place += packets;
        }
    }

    void run() {
        describe("server");
        describe("client");
        events_.at(0, [this] { post(); });
        events_.run();
    }

    struct Done {
        std::uint64_t lost = 0, lost_requests = 0, doubled = 0, overtaken = 0, not_ready = 0;
        std::uint64_t timeouts = 0, slow = 0;

        bool is_nothing() const {
            return lost + doubled + overtaken + not_ready + slow + timeouts == 0;
        }
    };
    const Conditions& conditions() const { return is_; }
    const Done& done() const { return done_; }
    bool has_failed() const { return requester_.has_failed(); }
    const std::vector<Captured>& at_client() const { return at_client_; }
    const std::vector<Captured>& at_server() const { return at_server_; }
    /// Lines of both logs: of the server's, those of the setup.
    const std::vector<std::string>& log() const { return log_; }
    static constexpr std::uint32_t first_psn = 100, other_psn = 500, mtu = 1024;

  private:
    bool chance(unsigned of_a_thousand) { return random_() % 1000 < of_a_thousand; }
    std::int64_t up_to(std::int64_t most) {
        return most == 0 ? 0 : static_cast<std::int64_t>(random_()) % most;
    }
    std::int64_t now() const { return start() + events_.now(); }
    static std::int64_t start() { return 1'000'000'000; }

    // The events of an end's setup.
    void describe(std::string_view role) {
        const bool is_server = role == "server";
        const std::uint32_t qpn = is_server ? to_server.qpn : to_client.qpn;
        const std::uint32_t dest_qpn = is_server ? to_client.qpn : to_server.qpn;
        const int host = is_server ? 1 : 2;
        const auto add = [&](const std::string& fields) {
            log_.push_back(
                fmt::format(R"({{"t_ns":{},"role":"{}",{}}})", start() - 1000, role, fields));
        };
        add(fmt::format(
            R"("event":"device","device":"rxe0","gid_index":1,"gid":"::ffff:192.0.2.{}")", host));
        add(R"("event":"cq","cq":1,"entries":1024)");
        add(fmt::format(
            R"("event":"qp","qpn":{},"type":"RC","max_send_wr":16,"send_cq":1,"recv_cq":1,"pd":1)",
            qpn));
        add(fmt::format(R"("event":"qp_state","qpn":{},"state":"INIT")", qpn));
        add(fmt::format(
            R"("event":"qp_state","qpn":{},"state":"RTR","dest_qpn":{},"rq_psn":{},"path_mtu":{},"gid_index":1,)"
            R"("dest_gid":"::ffff:192.0.2.{}","max_dest_rd_atomic":16,"min_rnr_timer":12,)"
            R"("access":"remote_write remote_read remote_atomic")",
            qpn, dest_qpn, is_server ? first_psn : other_psn, mtu, 3 - host));
        add(fmt::format(
            R"("event":"qp_state","qpn":{},"state":"RTS","sq_psn":{},"retry_cnt":7,"rnr_retry":7,"timeout":{},"max_rd_atomic":16)",
            qpn, is_server ? other_psn : first_psn, is_.timeout));
    }

    // The path.
    void over(wire::Packet packet, bool is_request) {
        if (is_.has_ip_ids)
            packet.ipv4->id = ++ip_id_[is_request ? 0 : 1];
        const auto frame = wire::encode(packet);
        (is_request ? at_client_ : at_server_).push_back({now(), frame});
        const std::int64_t end_ns = is_request ? is_.requests_end_ns : is_.responses_end_ns;
        if (end_ns != 0 && events_.now() >= end_ns)
            return;
        if (chance(is_request ? is_.lost_requests : is_.lost_responses)) {
            ++done_.lost;
            done_.lost_requests += is_request ? 1 : 0;
            return;
        }
        const auto arrive = [this, packet, frame, is_request] {
            (is_request ? at_server_ : at_client_).push_back({now(), frame});
            if (is_request)
                enter(packet);
            else
                hear(packet);
        };
        std::int64_t& last = arrival_[is_request ? 0 : 1];
        last = std::max(last + 1'000, events_.now() + is_.delay_ns + up_to(is_.jitter_ns));
        if (chance(is_request ? is_.overtaken_requests : is_.overtaken_responses)) {
            ++done_.overtaken;
            events_.at(last + 400'000, arrive);
            return;
        }
        events_.at(last, arrive);
        if (!chance(is_.doubled))
            return;
        ++done_.doubled;
        last += 5'000;
        events_.at(last, arrive);
    }

    // The requester.
    void note(const std::string& fields) {
        log_.push_back(fmt::format(R"({{"t_ns":{},"role":"client",{}}})", now(), fields));
    }
    void post() {
        if (posted_ == messages_.size() || requester_.has_failed())
            return;
        if (requester_.outstanding() < is_.window) {
            const simulate::Message& message = messages_[posted_++];
            note(fmt::format(
                R"("event":"post_send","qpn":33,"wr_id":{0},"opcode":"{1}","len":{2},"psn_first":{3},)"
                R"("psn_last":{4},"request":{0},"signaled":true)",
                posted_ - 1, message.wants_data ? "RDMA_READ" : "SEND", message.psns * mtu,
                first_psn + message.first, first_psn + message.end() - 1));
            requester_.post(message);
        }
        events_.after(10'000 + up_to(is_.pause_ns), [this] { post(); });
    }
    void send(const simulate::Message& message, std::uint32_t place) override {
        const std::uint32_t in = place - message.first;
        if (message.wants_data) {
            auto made = read(to_server, first_psn + place, (message.psns - in) * mtu);
            made.reth->va += std::uint64_t{in} * mtu;
            made.bth->a = true;
            over(made, true);
            return;
        }
        const bool is_last = in + 1 == message.psns;
        const std::uint8_t code = message.psns == 1 ? opcode::send_only
                                  : in == 0         ? opcode::send_first
                                  : is_last         ? opcode::send_last
                                                    : opcode::send_middle;
        auto made = packet(to_server, code, first_psn + place, mtu);
        made.bth->a = is_last;
        over(made, true);
    }
    void completed(std::size_t message) override {
        events_.after(3'000, [this, message] {
            note(fmt::format(
                R"("event":"wc","qpn":33,"wr_id":{0},"queue":"send","request":{0},"status":"SUCCESS")",
                message));
        });
    }
    void timed_out() override { ++done_.timeouts; }
    void failed(std::size_t message) override {
        note(fmt::format(
            R"("event":"wc","qpn":33,"wr_id":{0},"queue":"send","request":{0},"status":"RETRY_EXC_ERR")",
            message));
    }
    void hear(const wire::Packet& heard) {
        constexpr std::int64_t rnr_ns = 1'920'000;  // of the code in syndrome::rnr, with a margin
        const bool is_data = heard.bth->opcode != opcode::acknowledge;
        const auto kind = heard.aeth ? heard.aeth->kind() : wire::AethKind::Ack;
        requester_.hear(heard.bth->psn.value() - first_psn,
                        is_data                          ? simulate::Response::Data
                        : kind == wire::AethKind::Ack    ? simulate::Response::Ack
                        : kind == wire::AethKind::RnrNak ? simulate::Response::RnrNak
                                                         : simulate::Response::SequenceNak,
                        rnr_ns);
    }

    // The responder: one packet after the other.
    void enter(const wire::Packet& packet) {
        std::int64_t takes = is_.answer_ns / 2 + up_to(is_.answer_ns);
        if (chance(is_.slow)) {
            takes += is_.slow_ns;
            ++done_.slow;
        }
        const std::uint32_t place = packet.bth->psn.value() - first_psn;
        responder_.enter({.place = place,
                          .message = messages_[of_[place]],
                          .asks_for_ack = packet.bth->a,
                          .refusal = {}},
                         takes);
    }
    void answer(std::uint32_t place, std::uint8_t syndrome, std::uint32_t msn) override {
        auto made = flow_test::answer(to_client, first_psn + place, syndrome);
        made.aeth->msn = msn;
        over(made, false);
    }
    void send_data(const simulate::Message& message, std::uint32_t begin, std::uint32_t place,
                   std::uint32_t msn) override {
        const std::uint8_t code = begin + 1 == message.end()   ? opcode::read_only
                                  : place == begin             ? opcode::read_first
                                  : place + 1 == message.end() ? opcode::read_last
                                                               : opcode::read_middle;
        auto made = packet(to_client, code, first_psn + place, mtu);
        if (code != opcode::read_middle)
            made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = msn};
        over(made, false);
    }
    bool is_ready() override {
        const bool is_late = chance(is_.not_ready);
        done_.not_ready += is_late ? 1 : 0;
        return !is_late;
    }

    std::mt19937 random_;
    Conditions is_;
    simulate::Events events_;
    Done done_;
    std::vector<Captured> at_client_, at_server_;
    std::vector<std::string> log_;
    std::array<std::uint16_t, 2> ip_id_{1000, 5000};
    std::array<std::int64_t, 2> arrival_{};

    std::vector<simulate::Message> messages_;
    std::vector<unsigned> of_;  // the message of a place
    std::size_t posted_ = 0;
    simulate::Requester requester_;
    simulate::Responder responder_;
};

}  // namespace explain_test
