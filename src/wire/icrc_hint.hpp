// Finds a cause of a wrong ICRC: what would have to be different for it to be right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/packet.hpp"

namespace wire {

struct IcrcHint {
    enum class Kind : std::uint8_t {
        Early,               ///< the ICRC is `count` bytes before its place, followed by padding
        WithoutEnd,          ///< it does not cover the last `count` bytes
        Unmasked,            ///< it covers the `fields` with their values, not with ones
        SourceAddress,       ///< it covers `address`: something rewrote the address (NAT)
        DestinationAddress,  ///< the same
        SourcePort,          ///< it covers `port`
    };

    Kind kind{};
    std::uint8_t count = 0;
    std::uint8_t fields = 0;
    std::uint16_t port = 0;
    IpAddress address{};

    /// "right with UDP source port 49152", "right with source address 192.0.2.2", "right one byte
    /// earlier, before the padding", "right with unmasked traffic class, flow label".
    std::string text() const;
    /// After "right": "with another UDP source port: a mirror or capture driver may have changed
    /// it".
    std::string_view cause() const;

    // NOLINTNEXTLINE(modernize-use-nullptr): false positive on the 0 in "a <=> b < 0"
    friend auto operator<=>(const IcrcHint&, const IcrcHint&) = default;
};

/// Returns the first change that makes a bad ICRC right; nullopt if it is not bad, or if none does.
/// `known`: addresses that may have been rewritten. The cost is bounded by their number. One in
/// 65536 packets that are corrupted elsewhere has a source port by chance; the other kinds have at
/// most 2 chances in 2^32 for each address, and 40 for all others.
std::optional<IcrcHint> icrc_hint(const Packet& packet, std::span<const IpAddress> known = {});

}  // namespace wire
