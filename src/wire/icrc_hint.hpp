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
        HeadersTwice,  ///< it covers the headers from the BTH on a second time (Soft-RoCE's FLUSH)
    };

    Kind kind{};
    std::uint8_t count = 0;
    std::uint8_t fields = 0;
    std::uint16_t port = 0;
    IpAddress address{};

    /// "right with UDP source port 49152", "right with source address 192.0.2.2", "right one byte
    /// earlier, before the padding", "right with unmasked traffic class, flow label", "right with its
    /// headers counted twice".
    std::string text() const;
    /// After "right": "with another UDP source port: a mirror or capture driver may have changed
    /// it".
    std::string_view cause() const;

    // NOLINTNEXTLINE(modernize-use-nullptr): false positive on the 0 in "a <=> b < 0"
    friend auto operator<=>(const IcrcHint&, const IcrcHint&) = default;
};

/// The ICRC that Soft-RoCE sends with a FLUSH instead of `icrc`: its table of opcodes has no place for
/// a FLUSH's payload, so it takes all headers for payload, and covers them a second time
/// (rxe_opcode.c; measured with Linux 6.12 and 7.3). `headers`: from the BTH to the ICRC. Both values
/// are in the form of compute_icrc's result.
std::uint32_t icrc_with_headers_twice(std::uint32_t icrc, util::Bytes headers);

/// Returns the first change that makes a bad ICRC right; nullopt if it is not bad, or if none does.
/// `known`: addresses that may have been rewritten. The cost is bounded by their number. One in
/// 65536 packets that are corrupted elsewhere has a source port by chance; the other kinds have at
/// most 2 chances in 2^32 for each address, and 40 for all others.
std::optional<IcrcHint> icrc_hint(const Packet& packet, std::span<const IpAddress> known = {});

/// Whether the packet's receiver must drop it: it is malformed, or its ICRC is wrong. A FLUSH of
/// Soft-RoCE is not: its receiver is a Soft-RoCE, too, which takes it.
bool is_damaged(const Packet& packet);

}  // namespace wire
