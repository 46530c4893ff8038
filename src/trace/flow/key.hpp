// The key of a stream: the packets of one sender to one queue pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/flow/host.hpp"
#include "wire/opcode.hpp"
#include "wire/packet.hpp"

namespace flow {

/// A BTH names only the receiving queue pair (IBTA volume 1, 9.2). The DETH of a datagram also
/// names the sending one. It is part of the key, because many may send to one queue pair.
struct StreamKey {
    Host src;
    Host dst;
    std::uint32_t dest_qpn = 0;
    std::uint32_t src_qpn = 0;  ///< for UD; otherwise 0
    wire::Transport transport{};
    Network network{};

    /// Returns nullopt if the packet has no BTH.
    static std::optional<StreamKey> of(const wire::Packet& packet);

    /// Returns the key of the opposite direction, to `qpn` of this stream's sender. For UD, that is
    /// src_qpn; for a connected stream, the sender must be known.
    StreamKey reversed(std::uint32_t qpn) const;

    std::uint64_t hash() const;
    friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// Mixes two numbers. Each bit of the result depends on all bits of both.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace flow
