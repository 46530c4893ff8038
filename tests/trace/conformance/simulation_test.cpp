// Simulates two ends that conform to the specification, over a link with random impairments: the
// check must have no findings. For random packets, the check must terminate.
#include <deque>
#include <random>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trace/conformance/trace.hpp"

namespace {

using namespace conformance_test;

constexpr std::uint32_t read_psns = 3;

struct Chances {
    unsigned lost = 0, doubled = 0, corrupted = 0, held = 0, not_ready = 0;  // per thousand
};

class Simulation {
  public:
    Simulation(std::uint32_t seed, std::uint32_t first, const Chances& chances,
               std::uint32_t psns = 200, std::optional<std::size_t> most_of_part = std::nullopt)
        : random_(seed), chances_(chances), first_(first), trace_(first, no_limit, most_of_part) {
        for (std::uint32_t psn = 0; psn < psns;) {
            const bool is_read = chance(200);
            for (std::uint32_t i = 0; i < (is_read ? read_psns : 1); ++i)
                begins_.push_back(is_read ? psn : no_read);
            psn += is_read ? read_psns : 1;
        }
    }

    conformance::Report run() {
        const auto end = static_cast<std::uint32_t>(begins_.size());
        while (unacknowledged_ < end) {
            bool is_idle = true;
            if (cursor_ < end && cursor_ < unacknowledged_ + 12 && chance(600)) {
                send_next();
                is_idle = false;
            }
            if (!requests_.empty() && chance(500))
                answer_next();
            while (!responses_.empty())
                hear_next();
            if (!held_.empty() && chance(300))
                release();
            const bool is_waiting = requests_.empty() && responses_.empty() && held_.empty();
            const bool may_send = cursor_ < end && cursor_ < unacknowledged_ + 12;
            if (is_idle && is_waiting && !may_send && unacknowledged_ < end) {
                trace_.time_out();
                cursor_ = unacknowledged_;
            }
        }
        return trace_.report();
    }

  private:
    static constexpr std::uint32_t no_read = UINT32_MAX;
    static constexpr std::uint32_t no_limit = 7;  // retry_cnt, as in Soft-RoCE

    bool chance(unsigned of_a_thousand) { return random_() % 1000 < of_a_thousand; }
    std::uint32_t psn(std::uint32_t place) const { return (first_ + place) & wire::Psn::mask; }

    void over_the_link(const wire::Packet& packet, std::deque<wire::Packet>& to) {
        if (chance(chances_.lost)) {
            trace_.lose(packet);
        } else if (chance(chances_.corrupted)) {
            trace_.corrupt(packet);
        } else if (chance(chances_.doubled)) {
            trace_.twice(packet);
            to.push_back(packet);
            to.push_back(packet);
        } else if (held_.empty() && chance(chances_.held)) {
            trace_.hold(packet);
            held_.push_back({packet, &to});
        } else {
            trace_.pass(packet);
            to.push_back(packet);
        }
    }
    void release() {
        trace_.release();
        for (auto& [packet, to] : held_)
            to->push_back(packet);
        held_.clear();
    }

    void send_next() {
        const std::uint32_t begin = begins_[cursor_];
        if (begin == no_read) {
            auto packet = send_one(psn(cursor_));
            packet.bth->a = cursor_ % 3 != 0 || cursor_ + 1 == begins_.size();
            over_the_link(packet, requests_);
            ++cursor_;
            return;
        }
        auto packet = read_part(psn(begin), read_psns, cursor_ - begin);
        packet.bth->psn = wire::Psn(psn(cursor_));
        over_the_link(packet, requests_);
        cursor_ = begin + read_psns;
    }

    std::uint32_t extend(const wire::Packet& packet) const {
        return (packet.bth->psn.value() - first_) & wire::Psn::mask;
    }

    void answer_next() {
        const wire::Packet request = requests_.front();
        requests_.pop_front();
        const std::uint32_t place = extend(request);
        const bool is_read = begins_[place] != no_read;
        if (place > expected_) {
            if (!nak_sent_)
                over_the_link(nak(psn(expected_), msn_), responses_);
            nak_sent_ = true;
            return;
        }
        if (place == expected_) {
            nak_sent_ = false;
            if (chance(chances_.not_ready)) {
                over_the_link(rnr(psn(place), msn_), responses_);
                return;
            }
            expected_ += is_read ? read_psns : 1;
            ++msn_;
            last_send_ = is_read ? last_send_ : place;
            if (!is_read && request.bth->a)
                over_the_link(acknowledge(psn(place), msn_), responses_);
        } else if (!is_read) {
            over_the_link(acknowledge(psn(last_send_), msn_), responses_);
        }
        if (!is_read)
            return;
        const std::uint32_t count = begins_[place] + read_psns - place;
        for (std::uint32_t i = 0; i < count; ++i) {
            auto packet = response(psn(place), i, count, msn_);
            packet.bth->psn = wire::Psn(psn(place + i));
            over_the_link(packet, responses_);
        }
    }

    void hear_next() {
        const wire::Packet heard = responses_.front();
        responses_.pop_front();
        const std::uint32_t place = extend(heard);
        if (place >= begins_.size() || place < unacknowledged_)
            return;
        const bool is_data = heard.opcode == nullptr && heard.bth->opcode != opcode::acknowledge;
        const bool is_nak = heard.aeth->kind() != wire::AethKind::Ack;
        const std::uint32_t to = is_data || is_nak ? place : place + 1;
        while (unacknowledged_ < to && begins_[unacknowledged_] == no_read)
            ++unacknowledged_;
        if (unacknowledged_ < to) {
            go_back();  // data of a READ are missing
            return;
        }
        if (is_data)
            ++unacknowledged_;
        cursor_ = std::max(cursor_, unacknowledged_);
        if (!is_nak)
            return;
        if (heard.aeth->kind() == wire::AethKind::RnrNak) {
            trace_.wait(700'000);
            cursor_ = unacknowledged_;
        } else {
            go_back();
        }
    }

    // Goes back once for each missing packet. After that, only the timer causes retransmissions.
    void go_back() {
        if (gone_back_for_ != unacknowledged_)
            cursor_ = unacknowledged_;
        gone_back_for_ = unacknowledged_;
    }

    std::mt19937 random_;
    Chances chances_;
    std::uint32_t first_;
    Trace trace_;
    std::vector<std::uint32_t> begins_;  // by place: begin of the READ that contains it
    std::deque<wire::Packet> requests_, responses_;
    std::vector<std::pair<wire::Packet, std::deque<wire::Packet>*>> held_;
    std::uint32_t cursor_ = 0, unacknowledged_ = 0;         // the requester's
    std::uint32_t expected_ = 0, msn_ = 0, last_send_ = 0;  // the responder's
    bool nak_sent_ = false;
    std::optional<std::uint32_t> gone_back_for_;
};

void expect_nothing(std::uint32_t seed, const Chances& chances) {
    const auto report = Simulation(seed, seed % 2 == 0 ? 0xffff80 : seed, chances).run();
    EXPECT_EQ(codes(report), "") << "seed " << seed << ": frame "
                                 << (report.findings.empty() ? 0 : report.findings[0].frame) << ", "
                                 << (report.findings.empty() ? "" : report.findings[0].text);
    ASSERT_EQ(report.connections.size(), 1U);
    EXPECT_EQ(report.recoveries.size(), report.connections[0].forward.events());
}

TEST(Simulation, nothing_is_found_where_the_link_is_good) {
    for (std::uint32_t seed = 0; seed < 20; ++seed)
        expect_nothing(seed, {});
}

TEST(Simulation, nothing_is_found_where_packets_are_lost) {
    for (std::uint32_t seed = 0; seed < 100; ++seed)
        expect_nothing(seed, {.lost = 1 + seed % 10 * 20});
}

TEST(Simulation, nothing_is_found_where_packets_are_doubled_and_corrupted) {
    for (std::uint32_t seed = 0; seed < 100; ++seed)
        expect_nothing(seed, {.lost = 10, .doubled = 50, .corrupted = 50});
}

TEST(Simulation, nothing_is_found_where_the_responder_is_not_ready) {
    for (std::uint32_t seed = 0; seed < 100; ++seed)
        expect_nothing(seed, {.lost = 20, .not_ready = 100});
}

TEST(Simulation, nothing_is_found_where_packets_are_overtaken) {
    for (std::uint32_t seed = 0; seed < 100; ++seed)
        expect_nothing(seed, {.held = 50});
}

std::string text_of(const conformance::Report& report) {
    std::string text = codes(report) + '\n' + recoveries(report);
    for (const conformance::Recovery& one : report.recoveries)
        text +=
            fmt::format("\n{} {} {}", one.packet.frame, one.prediction, one.ended_by.value_or(0));
    for (const conformance::HostReport& host : report.hosts)
        text += fmt::format("\n{}", fmt::join(host.counts, " "));
    return text;
}

// Parts of 120 packets hold what the requester may have outstanding several times.
TEST(Simulation, comes_to_the_same_in_parts) {
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        const Chances chances{
            .lost = 20, .doubled = 20, .corrupted = 20, .held = 20, .not_ready = 20};
        const auto whole = Simulation(seed, 0xffff80, chances, 2000).run();
        const auto parts = Simulation(seed, 0xffff80, chances, 2000, 120).run();
        ASSERT_GT(whole.recoveries.size(), 50U);
        EXPECT_EQ(text_of(parts), text_of(whole));
    }
}

TEST(AnyTrace, comes_to_an_end) {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        Trace trace(seed % 3 == 0 ? std::nullopt : std::optional(0U), 3,
                    seed % 2 == 0 ? std::nullopt : std::optional(std::size_t{64}));
        for (int i = 0; i < 300; ++i) {
            const std::uint32_t psn = random() % 12;
            wire::Packet packet;
            switch (random() % 8) {
                case 0:
                    packet = send_one(psn);
                    break;
                case 1:
                    packet = write_part(psn, random() % 4, 4);
                    break;
                case 2:
                    packet = read_part(psn, 1 + random() % 4);
                    break;
                case 3:
                    packet = fetch_add(psn);
                    break;
                case 4:
                    packet = response(psn, random() % 3, 3, random() % 4);
                    break;
                case 5:
                    packet = atomic_ack(psn, random() % 4, random() % 2);
                    break;
                case 6:
                    packet = acknowledge(psn, random() % 4);
                    break;
                default:
                    packet = acknowledge(psn, random() % 4,
                                         static_cast<std::uint8_t>(0x20 + random() % 0x44));
            }
            switch (random() % 6) {
                case 0:
                    trace.lose(packet);
                    break;
                case 1:
                    trace.corrupt(packet);
                    break;
                case 2:
                    trace.twice(packet);
                    break;
                default:
                    trace.pass(packet);
            }
            if (random() % 20 == 0)
                trace.time_out();
        }
        const auto report = trace.report();
        EXPECT_FALSE(report.connections.empty());
    }
}

}  // namespace
