// Synthetic traces: the packets that two hosts sent over a link, and the actions of the link
// emulator. Each frame is encoded and decoded as from a capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trace/conformance/checker.hpp"
#include "trace/flow/feed.hpp"

namespace conformance_test {

using namespace flow_test;

inline constexpr std::uint32_t mtu = 1024;
inline constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};  // requests
inline constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};   // and their responses
inline constexpr std::int64_t timeout_ns = 20'000'000;

class Trace {
  public:
    /// If `first_psn` is nullopt, the checker does not know the queue pairs. `most_of_part`: nullopt: as in
    /// rocecap.
    explicit Trace(std::optional<std::uint32_t> first_psn = 0, std::uint32_t retry_count = 3,
                   std::optional<std::size_t> most_of_part = std::nullopt) {
        if (most_of_part)
            checker_.emplace(tracker_, *most_of_part);
        else
            checker_.emplace(tracker_);
        if (!first_psn)
            return;
        flow::KnownQueuePair pair{
            .host = std::nullopt,
            .qpn = back.qpn,
            .dest_qpn = there.qpn,
            .path_mtu = mtu,
            .sq_psn = wire::Psn(*first_psn),
            .retry = {.ack_timeout_ns = timeout_ns, .retry_count = retry_count}};
        tracker_.know(pair);
        std::swap(pair.qpn, pair.dest_qpn);
        pair.sq_psn.reset();
        tracker_.know(pair);
    }

    conformance::Checker& checker() { return *checker_; }
    void wait(std::int64_t ns) { now_ += ns; }
    /// The capture has at most this many bytes of each later frame.
    void snap(std::size_t bytes) { snap_ = bytes; }
    void time_out() { wait(timeout_ns + 1'000'000); }

    // Each function returns the number of the frame that the host sent.
    std::uint64_t pass(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto number = before(frame);
        after(frame);
        return number;
    }
    std::uint64_t lose(const wire::Packet& packet) {
        const auto number = before(wire::encode(packet));
        checker_->know(number, conformance::LinkAction::Drop);
        return number;
    }
    std::uint64_t twice(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto number = before(frame);
        after(frame);
        after(frame);
        return number;
    }
    std::uint64_t corrupt(const wire::Packet& packet) {
        auto frame = wire::encode(packet);
        const auto number = before(frame);
        checker_->know(number, conformance::LinkAction::Corrupt);
        frame.back() ^= std::byte{0x01};
        after(frame);
        return number;
    }
    /// The packet leaves the link emulator as another packet, with a valid ICRC.
    std::uint64_t change(const wire::Packet& packet, const wire::Packet& into) {
        const auto number = before(wire::encode(packet));
        checker_->know(number, conformance::LinkAction::Set);
        after(wire::encode(into));
        return number;
    }
    /// The packet leaves the link emulator at release().
    std::uint64_t hold(const wire::Packet& packet) {
        held_.push_back(wire::encode(packet));
        return before(held_.back());
    }
    void release() {
        for (const auto& frame : held_)
            after(frame);
        held_.clear();
    }

    std::uint64_t last_frame() const { return frames_; }
    conformance::Report report() {
        wait(2'000'000'000);
        pass(datagram({.from = 1, .to = 2, .qpn = 9}, 8, 1));  // the capture continues
        return checker_->finish();
    }

  private:
    std::uint64_t before(util::Bytes frame) { return add(frame, conformance::LinkSide::Ingress); }
    std::uint64_t after(util::Bytes frame) { return add(frame, conformance::LinkSide::Egress); }
    std::uint64_t add(util::Bytes frame, conformance::LinkSide side) {
        now_ += 5'000;
        const util::Bytes captured = frame.first(std::min(frame.size(), snap_));
        checker_->add(++frames_, side, now_,
                      wire::decode(captured, wire::LinkType::Ethernet, frame.size()), captured);
        return frames_;
    }

    flow::Tracker tracker_;
    std::optional<conformance::Checker> checker_;
    std::int64_t now_ = 1'000'000'000;
    std::uint64_t frames_ = 0;
    std::size_t snap_ = SIZE_MAX;
    std::vector<std::vector<std::byte>> held_;
};

inline wire::Packet asking(wire::Packet packet) {
    packet.bth->a = true;
    return packet;
}

/// Returns packet `i` of a WRITE of `count` packets whose first PSN is `first`. The last packet
/// requests an ACK.
inline wire::Packet write_part(std::uint32_t first, std::uint32_t i, std::uint32_t count) {
    constexpr std::uint8_t middle = 0x07;
    constexpr std::uint8_t last = 0x08;
    const bool is_last = i + 1 == count;
    const std::uint8_t code = count == 1 ? opcode::write_only
                              : i == 0   ? opcode::write_first
                              : is_last  ? last
                                         : middle;
    auto made = packet(there, code, first + i, is_last ? 100 : mtu);
    if (i == 0)
        made.reth = wire::Reth{.va = 0x1000, .rkey = 7, .dmalen = (count - 1) * mtu + 100};
    made.bth->a = is_last;
    return made;
}

inline wire::Packet send_one(std::uint32_t psn) {
    return asking(packet(there, opcode::send_only, psn, 64));
}

inline wire::Packet read_part(std::uint32_t psn, std::uint32_t packets, std::uint32_t skipped = 0) {
    auto made = flow_test::read(there, psn + skipped, (packets - skipped) * mtu);
    made.reth->va += std::uint64_t{skipped} * mtu;
    made.bth->a = true;
    return made;
}

inline wire::Packet response(std::uint32_t first, std::uint32_t i, std::uint32_t count,
                             std::uint32_t msn) {
    const std::uint8_t code = count == 1       ? opcode::read_only
                              : i == 0         ? opcode::read_first
                              : i + 1 == count ? opcode::read_last
                                               : opcode::read_middle;
    auto made = packet(back, code, first + i, mtu);
    made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = msn};
    return made;
}

inline wire::Packet fetch_add(std::uint32_t psn) {
    auto made = asking(packet(there, opcode::fetch_add, psn));
    made.atomic_eth = wire::AtomicEth{.va = 0x2000, .rkey = 7, .swapdt = 1, .cmpdt = 0};
    return made;
}

inline wire::Packet atomic_ack(std::uint32_t psn, std::uint32_t msn, std::uint64_t value) {
    auto made = packet(back, opcode::atomic_acknowledge, psn);
    made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = msn};
    made.atomic_ack_eth = wire::AtomicAckEth{.origremdt = value};
    return made;
}

inline wire::Packet acknowledge(std::uint32_t psn, std::uint32_t msn,
                                std::uint8_t syndrome = syndrome::ack) {
    auto made = answer(back, psn, syndrome);
    made.aeth->msn = msn;
    return made;
}
inline wire::Packet nak(std::uint32_t psn, std::uint32_t msn) {
    return acknowledge(psn, msn, syndrome::psn_error);
}
/// An RNR NAK with a timer of 0.64 ms.
inline wire::Packet rnr(std::uint32_t psn, std::uint32_t msn) {
    return acknowledge(psn, msn, syndrome::rnr);
}

/// Returns the codes of the findings, such as "nak-psn nak-repeated", in the order of their frames.
inline std::string codes(const conformance::Report& report) {
    std::string all;
    for (const auto& finding : report.findings)
        all += (all.empty() ? "" : " ") + std::string(name(finding.code));
    return all;
}

/// Returns one line per recovery, such as "lost: NAK, as specified".
inline std::string recoveries(const conformance::Report& report) {
    std::string all;
    for (const auto& one : report.recoveries)
        all += std::string(all.empty() ? "" : "\n") + std::string(name(one.packet.fate)) + ": " +
               std::string(name(one.seen())) + ", " + std::string(name(one.verdict));
    return all;
}

}  // namespace conformance_test
