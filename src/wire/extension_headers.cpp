#include "wire/extension_headers.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace wire {

namespace {

constexpr std::uint32_t no_flow_control = 31;

/// IBTA volume 1, table "End-to-End Flow Control Credit Encoding": 0 to 4, then each value is twice
/// the value two entries before it.
constexpr std::array<std::uint32_t, 31> credit_counts{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// IBTA volume 1, table "Encoding for RNR NAK Timer Field"; code 0 is the longest time.
constexpr std::array<double, 32> rnr_timers_ms{
    655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,
    0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36,
    20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};

constexpr std::array<std::string_view, 5> nak_names{
    "PSN Sequence Error", "Invalid Request", "Remote Access Error", "Remote Operational Error",
    "Invalid RD Request"};

}  // namespace

std::string_view name(AethKind kind) {
    constexpr std::array<std::string_view, 4> names{"ACK", "RNR NAK", "reserved", "NAK"};
    return names[static_cast<std::size_t>(kind)];
}

std::optional<std::uint32_t> Aeth::credits() const {
    if (kind() != AethKind::Ack || code() == no_flow_control)
        return std::nullopt;
    return credit_counts[code()];
}

std::optional<double> Aeth::rnr_timer_ms() const {
    if (kind() != AethKind::RnrNak)
        return std::nullopt;
    return rnr_timers_ms[code()];
}

std::optional<std::string_view> Aeth::nak_name() const {
    if (kind() != AethKind::Nak)
        return std::nullopt;
    return code() < nak_names.size() ? nak_names[code()] : "Reserved";
}

std::string Aeth::text() const {
    switch (kind()) {
        case AethKind::Ack:
            return credits() ? fmt::format("ACK, {} credits", *credits())
                             : "ACK, no flow control by credits";
        case AethKind::RnrNak:
            return fmt::format("RNR NAK, wait {} ms", *rnr_timer_ms());
        case AethKind::Nak:
            return fmt::format("NAK: {}", *nak_name());
        case AethKind::Reserved:
            break;
    }
    return fmt::format("reserved syndrome {:#04x}", syndrome);
}

Aeth Aeth::parse(util::FixedBytes<size> bytes) {
    return {.syndrome = util::be8<0>(bytes), .msn = util::be24<1>(bytes)};
}

void Aeth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, syndrome);
    util::put_be24<1>(out, msn);
}

// DETH, RDETH and XRCETH have a reserved byte before the 24-bit number; senders write 0.

Deth Deth::parse(util::FixedBytes<size> bytes) {
    return {.q_key = util::be32<0>(bytes), .src_qpn = util::be24<5>(bytes)};
}

void Deth::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, q_key);
    util::put_be8<4>(out, 0);
    util::put_be24<5>(out, src_qpn);
}

Rdeth Rdeth::parse(util::FixedBytes<size> bytes) {
    return {.eecnxt = util::be24<1>(bytes)};
}

void Rdeth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, 0);
    util::put_be24<1>(out, eecnxt);
}

Dceth Dceth::parse(util::FixedBytes<size> bytes) {
    Dceth header;
    std::ranges::copy(bytes, header.bytes.begin());
    return header;
}

void Dceth::write(std::span<std::byte, size> out) const {
    std::ranges::copy(bytes, out.begin());
}

Xrceth Xrceth::parse(util::FixedBytes<size> bytes) {
    return {.xrcsrq = util::be24<1>(bytes)};
}

void Xrceth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, 0);
    util::put_be24<1>(out, xrcsrq);
}

std::string_view Feth::sel_name() const {
    return sel == 0 ? "memory range" : sel == 1 ? "whole memory region" : "reserved";
}

Feth Feth::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t fields = util::be8<3>(bytes);
    return {
        .plt = static_cast<std::uint8_t>(fields & 0xfU),
        .sel = static_cast<std::uint8_t>(fields >> 4 & 3U),
    };
}

void Feth::write(std::span<std::byte, size> out) const {
    util::put_be24<0>(out, 0);
    util::put_be8<3>(out, static_cast<std::uint8_t>((sel & 3U) << 4 | (plt & 0xfU)));
}

Reth Reth::parse(util::FixedBytes<size> bytes) {
    return {
        .va = util::be64<0>(bytes),
        .rkey = util::be32<8>(bytes),
        .dmalen = util::be32<12>(bytes),
    };
}

void Reth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, va);
    util::put_be32<8>(out, rkey);
    util::put_be32<12>(out, dmalen);
}

AtomicEth AtomicEth::parse(util::FixedBytes<size> bytes) {
    return {
        .va = util::be64<0>(bytes),
        .rkey = util::be32<8>(bytes),
        .swapdt = util::be64<12>(bytes),
        .cmpdt = util::be64<20>(bytes),
    };
}

void AtomicEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, va);
    util::put_be32<8>(out, rkey);
    util::put_be64<12>(out, swapdt);
    util::put_be64<20>(out, cmpdt);
}

AtomicAckEth AtomicAckEth::parse(util::FixedBytes<size> bytes) {
    return {.origremdt = util::be64<0>(bytes)};
}

void AtomicAckEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, origremdt);
}

ImmDt ImmDt::parse(util::FixedBytes<size> bytes) {
    return {.value = util::be32<0>(bytes)};
}

void ImmDt::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, value);
}

Ieth Ieth::parse(util::FixedBytes<size> bytes) {
    return {.rkey = util::be32<0>(bytes)};
}

void Ieth::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, rkey);
}

}  // namespace wire
