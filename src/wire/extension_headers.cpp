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

std::string_view Feth::sel_name() const {
    return sel == 0 ? "memory range" : sel == 1 ? "whole memory region" : "reserved";
}

}  // namespace wire
