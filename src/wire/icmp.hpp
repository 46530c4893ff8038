// ICMP errors that quote a packet to UDP port 4791: a router or the destination host dropped it
// (RFC 792, RFC 4443). The quoted packet itself is no traffic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

struct IcmpError {
    enum class What : std::uint8_t {
        TimeExceeded,     ///< the hop limit ran out
        Unreachable,      ///< no route, no such host, or forbidden
        PortUnreachable,  ///< no program has the UDP port
        TooBig,           ///< larger than the next link's MTU
    };

    What what{};
    std::uint32_t mtu = 0;  ///< TooBig: of the next link, bytes; 0 if not reported
    Packet quoted;          ///< often only its IP and UDP headers

    /// "time exceeded", "destination unreachable", ...
    std::string_view name() const;
    /// "ICMP time exceeded, about 192.0.2.2 → 192.0.2.1 UDP 49152 → 4791".
    std::string text() const;
};

/// Returns nullopt if `packet` is no such error. `frame`: the bytes from which it was decoded.
std::optional<IcmpError> icmp_error(const Packet& packet, util::Bytes frame);

}  // namespace wire
