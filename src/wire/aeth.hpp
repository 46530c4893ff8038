// ACK Extended Transport Header and its syndrome (IBTA volume 1, 9.3.5 and 9.7.5.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "util/cursor.hpp"

namespace wire {

/// Bits 6:5 of the syndrome.
enum class AethKind : std::uint8_t { Ack = 0, RnrNak = 1, Reserved = 2, Nak = 3 };

/// "ACK", "RNR NAK", "reserved", "NAK".
std::string_view name(AethKind kind);

struct Aeth {
    static constexpr std::size_t size = 4;

    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;  ///< 24 bits: messages the responder has completed

    AethKind kind() const { return static_cast<AethKind>(syndrome >> 5 & 3U); }
    /// Bits 4:0: credit code, RNR timer code or NAK code, by kind().
    std::uint8_t code() const { return syndrome & 0x1fU; }

    /// Number of work requests that the responder can still accept. nullopt if this is not an ACK
    /// or if the code is 31 (no end-to-end flow control).
    std::optional<std::uint32_t> credits() const;
    /// Time in milliseconds that the requester waits before it retries; nullopt if this is not an
    /// RNR NAK.
    std::optional<double> rnr_timer_ms() const;
    /// "Remote Access Error"; "Reserved" for codes the specification does not name; nullopt if this
    /// is not a NAK.
    std::optional<std::string_view> nak_name() const;
    /// "ACK, 12 credits", "RNR NAK, wait 0.64 ms", "NAK: Remote Access Error".
    std::string text() const;

    static Aeth parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Aeth&, const Aeth&) = default;
};

}  // namespace wire
