// A capture at one point and the result of its check.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/conformance/trace.hpp"

namespace conformance_test {

inline constexpr std::int64_t ms = 1'000'000;

/// A capture at one point, with times of its own.
class OnePointCapture {
  public:
    void pass(const wire::Packet& packet, std::int64_t after_ns = 5'000) {
        add(wire::encode(packet), after_ns);
    }
    void corrupt(const wire::Packet& packet) {
        auto frame = wire::encode(packet);
        frame.back() ^= std::byte{0x01};
        add(frame, 5'000);
    }
    /// The payload was changed on the way. `trust`: whether the wrong ICRC shows that.
    void change(const wire::Packet& packet, conformance::IcrcTrust trust) {
        auto frame = wire::encode(packet);
        frame[frame.size() - 5] ^= std::byte{0x01};
        add(frame, 5'000, trust);
    }
    void wait(std::int64_t ns) { now_ += ns; }
    /// Call before the first packet.
    void has_all_packets() { checker_.has_all_packets(); }

    /// The findings, after a slash those that cannot be judged, and the number of corrections: "ack-beyond /
    /// msn, 2".
    std::string result(std::optional<flow::Host> place = std::nullopt) {
        wait(2'000 * ms);
        pass(datagram({.from = 1, .to = 2, .qpn = 9}, 8, 1), 0);  // the capture continues
        checker_.captured_at({place});
        report_ = checker_.finish();
        conformance::Report unknowable;
        unknowable.findings = report_.unknowable;
        return fmt::format("{} / {}, {}", codes(report_), codes(unknowable),
                           half().out_of_order + other_half().out_of_order);
    }
    /// Of a capture at the responder's host, whose responses are judged in full.
    std::string result_at_responder() { return result(host_of(send_one(0)).dst); }
    std::string result_at_requester() { return result(host_of(send_one(0)).src); }
    const conformance::HalfReport& half() const {
        const auto& one = report_.connections.front();
        return one.forward.requests != 0 ? one.forward : one.backward;
    }

  private:
    static flow::StreamKey host_of(const wire::Packet& packet) {
        return *flow::StreamKey::of(wire::decode(wire::encode(packet), wire::LinkType::Ethernet));
    }
    const conformance::HalfReport& other_half() const {
        const auto& one = report_.connections.front();
        return one.forward.requests != 0 ? one.backward : one.forward;
    }
    void add(const std::vector<std::byte>& frame, std::int64_t after_ns,
             conformance::IcrcTrust trust = conformance::IcrcTrust::Full) {
        now_ += after_ns;
        const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
        const auto number = tracker_.add(std::chrono::nanoseconds(now_), packet, frame.size());
        checker_.add_at_one_point(++frames_, now_, packet, number, trust);
    }

    flow::Tracker tracker_;
    conformance::Checker checker_{tracker_};
    conformance::Report report_;
    std::uint64_t frames_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

}  // namespace conformance_test
