// A capture at one point is judged with a window of its packets. The result is that of the check that
// keeps them all.
#include <random>

#include "trace/conformance/one_point_capture.hpp"

namespace one_point_test {

using namespace conformance_test;
using conformance::LinkSide;

// Two checkers with the same frames.
class Twins {
  public:
    void pass(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto decoded = wire::decode(frame, wire::LinkType::Ethernet);
        ++frames_;
        now_ += 5'000;
        for (const auto side : {LinkSide::Ingress, LinkSide::Egress})
            keeps_all_.add(frames_, side, now_, decoded, frame);
        const std::uint64_t stream =
            tracker_.add(std::chrono::nanoseconds(now_), decoded, frame.size());
        has_window_.add_at_one_point(frames_, now_, decoded, stream);
    }
    void wait(std::int64_t ns) { now_ += ns; }

    std::pair<conformance::Report, conformance::Report> reports() {
        const conformance::OnePoint server{
            flow::StreamKey::of(wire::decode(wire::encode(send_one(0)), wire::LinkType::Ethernet))
                ->dst};
        keeps_all_.captured_at(server);
        has_window_.captured_at(server);
        return {keeps_all_.finish(), has_window_.finish()};
    }

  private:
    flow::Tracker tracker_of_all_, tracker_;
    conformance::Checker keeps_all_{tracker_of_all_}, has_window_{tracker_};
    std::uint64_t frames_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

// Messages of a connection, of which a tenth is lost, refused, answered late or wrongly.
class Messages {
  public:
    explicit Messages(unsigned seed) : random_(seed) {}

    void next(Twins& out) {
        const std::uint32_t count = 1 + pick(6);
        const std::uint32_t first = psn_;
        switch (pick(24)) {
            case 0: {  // a packet was lost before the capture
                const std::uint32_t lost = pick(count);
                write(out, first, count, lost);
                if (lost + 1 < count)
                    out.pass(nak(first + lost, msn_));
                else
                    out.wait(timeout_ns + 1'000'000);
                write(out, first + lost, count - lost, count, lost, count);
                out.pass(acknowledge(first + count - 1, ++msn_));
                psn_ += count;
                return;
            }
            case 1:  // an ACK was lost behind the capture
                out.pass(send_one(first));
                out.pass(acknowledge(first, ++msn_));
                out.wait(timeout_ns + 1'000'000);
                out.pass(send_one(first));
                out.pass(acknowledge(first, msn_));
                ++psn_;
                return;
            case 2:
                out.pass(send_one(first));
                out.pass(rnr(first, msn_));
                out.wait(1'000'000);
                out.pass(send_one(first));
                out.pass(acknowledge(first, ++msn_));
                ++psn_;
                return;
            // A wrong MSN, and an ACK of what was not sent. An ACK of the next request could be recorded too early.
            case 3:
                out.pass(send_one(first));
                out.pass(acknowledge(first, msn_++ + 7));
                if (pick(2) == 0)
                    out.pass(acknowledge(first + 1000, msn_));
                ++psn_;
                return;
            case 4:
            case 5:
                out.pass(fetch_add(first));
                out.pass(atomic_ack(first, ++msn_, first));
                ++psn_;
                return;
            case 6:
            case 7:
            case 8:
                out.pass(read_part(first, count));
                ++msn_;
                for (std::uint32_t i = 0; i < count; ++i)
                    out.pass(response(first, i, count, msn_));
                psn_ += count;
                return;
            default:
                write(out, first, count, count);
                out.pass(acknowledge(first + count - 1, ++msn_));
                psn_ += count;
                return;
        }
    }

    // An ACK of what was not sent is wrong only if the request comes later.
    void end(Twins& out) {
        out.pass(send_one(psn_));
        out.pass(acknowledge(psn_, ++msn_));
    }

  private:
    std::uint32_t pick(std::uint32_t count) {
        return static_cast<std::uint32_t>(random_() % count);
    }
    static void write(Twins& out, std::uint32_t first, std::uint32_t count, std::uint32_t lost) {
        write(out, first, count, lost, 0, count);
    }
    // The packets of a WRITE of `all` packets from number `from` on, whose first PSN is `first`.
    static void write(Twins& out, std::uint32_t first, std::uint32_t count, std::uint32_t lost,
                      std::uint32_t from, std::uint32_t all) {
        for (std::uint32_t i = 0; i < count; ++i)
            if (i != lost)
                out.pass(write_part(first - from, from + i, all));
    }

    std::minstd_rand random_;
    std::uint32_t psn_ = 0xfff000, msn_ = 0;
};

std::string text(const conformance::Findings& findings) {
    std::string all;
    for (const auto& one : findings)
        all += fmt::format("{} {} {} {}\n", one.frame, name(one.code), one.text, one.forward);
    return all;
}

std::string text(const conformance::HalfReport& half) {
    return fmt::format("{} {} {} {} {} {} {} {} {}", half.requests, half.responses, half.repeated,
                       half.events(), half.first_psn.value_or(wire::Psn()).value(), half.is_told,
                       half.began_in_the_middle, half.silent_since.value_or(0),
                       half.gave_up_after.value_or(0));
}

std::string text(const conformance::Report& report) {
    std::string all = text(report.findings) + "cannot be judged:\n" + text(report.unknowable);
    for (const auto& one : report.connections)
        all += fmt::format("{} {} / {}\n", one.path_mtu, text(one.forward), text(one.backward));
    for (const auto& host : report.hosts)
        for (const auto& [counter, count] : host.counts)
            all += fmt::format("{} {}\n", counter, count);
    return all;
}

class OnePoint : public testing::TestWithParam<unsigned> {};

TEST_P(OnePoint, has_the_result_of_the_check_that_keeps_all_packets) {
    Twins twins;
    Messages messages(GetParam());
    for (int i = 0; i < 4'000; ++i)
        messages.next(twins);
    messages.end(twins);
    twins.wait(2'000'000'000);
    const auto [all, window] = twins.reports();
    EXPECT_GT(all.findings.size(), 50U);
    EXPECT_EQ(all.frames, 2 * window.frames);
    EXPECT_EQ(text(all), text(window));
}

INSTANTIATE_TEST_SUITE_P(Seeds, OnePoint, testing::Range(1U, 9U));

// A responder that no longer answers, and a direction that was never captured.
TEST(OnePointSilence, is_found_after_more_requests_than_the_window_has) {
    for (const std::uint32_t answered : {0U, 300U}) {
        SCOPED_TRACE(answered);
        Twins twins;
        for (std::uint32_t psn = 0; psn < 40'000; ++psn) {
            twins.pass(send_one(psn));
            if (psn < answered)
                twins.pass(acknowledge(psn, psn + 1));
        }
        twins.wait(2'000'000'000);
        twins.pass(datagram({.from = 1, .to = 2, .qpn = 9}, 8, 1));
        const auto [all, window] = twins.reports();
        EXPECT_EQ(text(all), text(window));
        EXPECT_TRUE(window.connections.front().forward.silent_since);
    }
}

// {milliseconds after the requests, silence}. These take 25 ms; the least time for a response is 500 ms.
TEST(OnePointSilence, is_none_where_the_capture_ends_soon) {
    for (const auto& [after_ms, is_silent] : {std::pair(470, false), std::pair(480, true)}) {
        SCOPED_TRACE(after_ms);
        Twins twins;
        for (std::uint32_t psn = 0; psn < 5'000; ++psn)
            twins.pass(send_one(psn));
        twins.wait(std::int64_t{after_ms} * 1'000'000);
        twins.pass(datagram({.from = 1, .to = 2, .qpn = 9}, 8, 1));
        const auto [all, window] = twins.reports();
        EXPECT_EQ(all.connections.front().forward.silent_since.has_value(), is_silent);
        EXPECT_EQ(window.connections.front().forward.silent_since.has_value(), is_silent);
    }
}

// At an unknown place, the sender may leave the ICRC to its adapter. But if only one copy has a wrong one,
// the path has changed it.
TEST(OnePoint, a_copy_with_a_wrong_icrc_shows_no_other_contents) {
    using conformance::IcrcTrust;
    for (const bool is_first : {true, false}) {
        OnePointCapture capture;
        capture.pass(send_one(0));
        capture.pass(acknowledge(0, 1));
        if (is_first)
            capture.change(send_one(1), IcrcTrust::None);
        else
            capture.pass(send_one(1));
        capture.wait(timeout_ns + 1'000'000);
        if (is_first)
            capture.pass(send_one(1));
        else
            capture.change(send_one(1), IcrcTrust::None);
        capture.wait(timeout_ns + 1'000'000);
        capture.pass(send_one(1));
        capture.pass(acknowledge(1, 2));
        EXPECT_EQ(capture.result(), " / , 0");
    }
    // The right one is what later copies must be.
    OnePointCapture capture;
    capture.change(send_one(0), IcrcTrust::None);
    capture.wait(timeout_ns + 1'000'000);
    capture.pass(send_one(0));
    capture.wait(timeout_ns + 1'000'000);
    auto other = send_one(0);
    other.payload = wire_test::sample_payload(65);
    capture.pass(other);
    capture.pass(acknowledge(0, 1));
    EXPECT_EQ(capture.result(), "resend-differs / , 0");
}

}  // namespace one_point_test
