// A simulated run: a requester and a responder that conform to the specification, and a path that
// loses, doubles or delays packets. Each host has a capture and a log, as in a real run, and what the
// path did is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/scene.hpp"

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

class SimulatedRun {
  public:
    SimulatedRun(std::uint32_t seed, const Conditions& conditions)
        : random_(seed), is_(conditions) {
        std::uint32_t place = 0;
        for (unsigned i = 0; i < is_.messages; ++i) {
            const std::uint32_t packets = 1 + random_() % 4;
            const bool is_read = chance(is_.reads);
            messages_.push_back({.first = place, .psns = packets, .is_read = is_read});
            for (std::uint32_t k = 0; k < packets; ++k)
                of_.push_back(i);
            place += packets;
        }
    }

    void run() {
        describe("server");
        describe("client");
        at(0, [this] { post(); });
        while (!events_.empty()) {
            const Event next = events_.top();
            events_.pop();
            now_ = next.t_ns;
            next.run();
        }
    }

    struct Done {
        std::uint64_t lost = 0, lost_requests = 0, doubled = 0, overtaken = 0, not_ready = 0;
        std::uint64_t timeouts = 0, slow = 0;

        bool is_nothing() const {
            return lost + doubled + overtaken + not_ready + slow + timeouts == 0;
        }
    };
    const Done& done() const { return done_; }
    bool has_failed() const { return has_failed_; }
    const std::vector<Captured>& at_client() const { return at_client_; }
    const std::vector<Captured>& at_server() const { return at_server_; }
    /// Lines of both logs: of the server's, those of the setup.
    const std::vector<std::string>& log() const { return log_; }
    static constexpr std::uint32_t first_psn = 100, other_psn = 500, mtu = 1024;

  private:
    struct Message {
        std::uint32_t first = 0, psns = 1;  // places
        bool is_read = false;
    };
    struct Event {
        std::int64_t t_ns = 0;
        std::uint64_t number = 0;
        std::function<void()> run;
        bool operator<(const Event& other) const {
            return std::pair(t_ns, number) > std::pair(other.t_ns, other.number);
        }
    };

    bool chance(unsigned of_a_thousand) { return random_() % 1000 < of_a_thousand; }
    std::int64_t up_to(std::int64_t most) {
        return most == 0 ? 0 : static_cast<std::int64_t>(random_()) % most;
    }
    void at(std::int64_t t_ns, std::function<void()> run) {
        events_.push({t_ns, ++number_, std::move(run)});
    }
    void after(std::int64_t ns, std::function<void()> run) { at(now_ + ns, std::move(run)); }
    static std::int64_t start() { return 1'000'000'000; }
    std::int64_t timeout_ns() const { return std::int64_t{4096} << is_.timeout; }

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
        (is_request ? at_client_ : at_server_).push_back({start() + now_, frame});
        const std::int64_t end_ns = is_request ? is_.requests_end_ns : is_.responses_end_ns;
        if (end_ns != 0 && now_ >= end_ns)
            return;
        if (chance(is_request ? is_.lost_requests : is_.lost_responses)) {
            ++done_.lost;
            done_.lost_requests += is_request ? 1 : 0;
            return;
        }
        const auto arrive = [this, packet, frame, is_request] {
            (is_request ? at_server_ : at_client_).push_back({start() + now_, frame});
            if (is_request)
                enter(packet);
            else
                hear(packet);
        };
        std::int64_t& last = arrival_[is_request ? 0 : 1];
        last = std::max(last + 1'000, now_ + is_.delay_ns + up_to(is_.jitter_ns));
        if (chance(is_request ? is_.overtaken_requests : is_.overtaken_responses)) {
            ++done_.overtaken;
            at(last + 400'000, arrive);
            return;
        }
        at(last, arrive);
        if (!chance(is_.doubled))
            return;
        ++done_.doubled;
        last += 5'000;
        at(last, arrive);
    }

    // The requester.
    std::uint32_t end_of_posted() const {
        return posted_ == 0 ? 0 : messages_[posted_ - 1].first + messages_[posted_ - 1].psns;
    }
    bool is_outstanding() const { return unacknowledged_ < sent_; }
    void note(const std::string& fields) {
        log_.push_back(fmt::format(R"({{"t_ns":{},"role":"client",{}}})", start() + now_, fields));
    }

    void post() {
        if (posted_ == messages_.size() || has_failed_)
            return;
        if (posted_ - completed_ < is_.window) {
            const Message& message = messages_[posted_++];
            note(fmt::format(
                R"("event":"post_send","qpn":33,"wr_id":{0},"opcode":"{1}","len":{2},"psn_first":{3},)"
                R"("psn_last":{4},"request":{0},"signaled":true)",
                posted_ - 1, message.is_read ? "RDMA_READ" : "SEND", message.psns * mtu,
                first_psn + message.first, first_psn + message.first + message.psns - 1));
            pump();
        }
        after(10'000 + up_to(is_.pause_ns), [this] { post(); });
    }

    void pump() {
        if (is_pumping_)
            return;
        is_pumping_ = true;
        after(4'000, [this] { send_next(); });
    }
    void send_next() {
        is_pumping_ = false;
        if (has_failed_ || now_ < not_before_ || cursor_ >= end_of_posted())
            return;
        const Message& message = messages_[of_[cursor_]];
        const std::uint32_t in = cursor_ - message.first;
        if (message.is_read) {
            auto made = read(to_server, first_psn + cursor_, (message.psns - in) * mtu);
            made.reth->va += std::uint64_t{in} * mtu;
            made.bth->a = true;
            cursor_ = message.first + message.psns;
            send(made);
        } else {
            const bool is_last = in + 1 == message.psns;
            const std::uint8_t code = message.psns == 1 ? opcode::send_only
                                      : in == 0         ? opcode::send_first
                                      : is_last         ? opcode::send_last
                                                        : opcode::send_middle;
            auto made = packet(to_server, code, first_psn + cursor_, mtu);
            made.bth->a = is_last;
            ++cursor_;
            send(made);
        }
        pump();
    }
    void send(const wire::Packet& made) {
        sent_ = std::max(sent_, cursor_);
        if (!timer_)
            start_timer();
        over(made, true);
    }
    void start_timer() {
        const std::uint64_t timer = ++timers_;
        timer_ = timer;
        after(timeout_ns(), [this, timer] {
            if (timer_ == timer)
                expire();
        });
    }
    void expire() {
        timer_.reset();
        if (!is_outstanding() || has_failed_)
            return;
        ++done_.timeouts;
        if (retries_++ == 7) {
            has_failed_ = true;
            note(fmt::format(
                R"("event":"wc","qpn":33,"wr_id":{0},"queue":"send","request":{0},"status":"RETRY_EXC_ERR")",
                completed_));
            return;
        }
        cursor_ = unacknowledged_;
        start_timer();
        pump();
    }
    void go_back() {
        if (gone_back_for_ == unacknowledged_)
            return;
        gone_back_for_ = unacknowledged_;
        cursor_ = unacknowledged_;
        pump();
    }
    void progress() {
        retries_ = 0;
        gone_back_for_.reset();
        while (completed_ < posted_ &&
               messages_[completed_].first + messages_[completed_].psns <= unacknowledged_) {
            after(3'000, [this, number = completed_] {
                note(fmt::format(
                    R"("event":"wc","qpn":33,"wr_id":{0},"queue":"send","request":{0},"status":"SUCCESS")",
                    number));
            });
            ++completed_;
        }
        cursor_ = std::max(cursor_, unacknowledged_);
        if (is_outstanding())
            start_timer();
        else if (!is_.has_running_timer)
            timer_.reset();
        pump();
    }
    void hear(const wire::Packet& heard) {
        if (has_failed_)
            return;
        const std::uint32_t place = heard.bth->psn.value() - first_psn;
        const bool is_data = heard.bth->opcode != opcode::acknowledge;
        const auto kind = is_data ? wire::AethKind::Ack : heard.aeth->kind();
        const bool is_ack = kind == wire::AethKind::Ack && !is_data;
        const std::uint32_t to = is_ack ? place + 1 : place;
        const std::uint32_t before = unacknowledged_;
        if (place >= sent_ || to < unacknowledged_)
            return;
        while (unacknowledged_ < to && !messages_[of_[unacknowledged_]].is_read)
            ++unacknowledged_;
        const bool are_data_missing = unacknowledged_ < to;
        if (is_data && !are_data_missing && place == unacknowledged_)
            ++unacknowledged_;
        if (unacknowledged_ != before)
            progress();
        if (are_data_missing || kind == wire::AethKind::Nak) {
            go_back();
        } else if (kind == wire::AethKind::RnrNak) {
            constexpr std::int64_t rnr_ns =
                1'920'000;  // of the code in syndrome::rnr, with a margin
            not_before_ = now_ + rnr_ns;
            cursor_ = unacknowledged_;
            start_timer();
            after(rnr_ns, [this] { pump(); });
        }
    }

    // The responder: one packet after the other.
    void enter(const wire::Packet& packet) {
        std::int64_t takes = is_.answer_ns / 2 + up_to(is_.answer_ns);
        if (chance(is_.slow)) {
            takes += is_.slow_ns;
            ++done_.slow;
        }
        busy_until_ = std::max(busy_until_, now_) + takes;
        at(busy_until_, [this, packet] { answer_to(packet); });
    }
    void answer_to(const wire::Packet& request) {
        const std::uint32_t place = request.bth->psn.value() - first_psn;
        const Message& message = messages_[of_[place]];
        if (place > expected_) {
            if (!was_nak_sent_ && !was_rnr_sent_)
                respond(acknowledgement(expected_, syndrome::psn_error));
            was_nak_sent_ = true;
            return;
        }
        if (place == expected_) {
            was_nak_sent_ = was_rnr_sent_ = false;
            if (!message.is_read && place == message.first && chance(is_.not_ready)) {
                ++done_.not_ready;
                was_rnr_sent_ = true;
                respond(acknowledgement(place, syndrome::rnr));
                return;
            }
            expected_ += message.is_read ? message.psns : 1;
            msn_ += expected_ == message.first + message.psns ? 1 : 0;
            if (!message.is_read && request.bth->a)
                respond(acknowledgement(place, syndrome::ack));
        } else if (!message.is_read && (request.bth->a || is_.acknowledges_each_copy)) {
            respond(acknowledgement(expected_ - 1, syndrome::ack));
        }
        if (!message.is_read)
            return;
        const std::uint32_t count = message.first + message.psns - place;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint8_t code = count == 1       ? opcode::read_only
                                      : i == 0         ? opcode::read_first
                                      : i + 1 == count ? opcode::read_last
                                                       : opcode::read_middle;
            auto made = packet(to_client, code, first_psn + place + i, mtu);
            if (code != opcode::read_middle)
                made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = msn_};
            after(std::int64_t{2'000} * i, [this, made] { respond(made); });
        }
        busy_until_ = std::max(busy_until_, now_ + std::int64_t{2'000} * count);
    }
    wire::Packet acknowledgement(std::uint32_t place, std::uint8_t syndrome) const {
        auto made = answer(to_client, first_psn + place, syndrome);
        made.aeth->msn = msn_;
        return made;
    }
    void respond(const wire::Packet& made) { over(made, false); }

    std::mt19937 random_;
    Conditions is_;
    std::priority_queue<Event> events_;
    std::uint64_t number_ = 0;
    std::int64_t now_ = 0;
    Done done_;
    std::vector<Captured> at_client_, at_server_;
    std::vector<std::string> log_;
    std::array<std::uint16_t, 2> ip_id_{1000, 5000};
    std::array<std::int64_t, 2> arrival_{};

    std::vector<Message> messages_;
    std::vector<unsigned> of_;  // the message of a place
    std::size_t posted_ = 0, completed_ = 0;
    std::uint32_t cursor_ = 0, unacknowledged_ = 0, sent_ = 0;  // places
    std::optional<std::uint32_t> gone_back_for_;
    std::optional<std::uint64_t> timer_;
    std::uint64_t timers_ = 0;
    unsigned retries_ = 0;
    std::int64_t not_before_ = 0;
    bool is_pumping_ = false, has_failed_ = false;

    std::uint32_t expected_ = 0, msn_ = 0;
    std::int64_t busy_until_ = 0;
    bool was_nak_sent_ = false, was_rnr_sent_ = false;
};

}  // namespace explain_test
