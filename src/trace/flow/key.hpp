// The key of a stream: the packets of one sender to one queue pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/flow/host.hpp"
#include "wire/opcode.hpp"
#include "wire/packet.hpp"

namespace flow {

/// A BTH names the receiving queue pair only (IBTA volume 1, 9.2). Datagrams name the sending one
/// too, in their DETH; it is part of the key there, since many may send to one queue pair.
struct StreamKey {
    Host src;
    Host dst;
    std::uint32_t dest_qpn = 0;
    std::uint32_t src_qpn = 0;  ///< of UD; 0 elsewhere
    wire::Transport transport{};
    Network network{};

    /// nullopt without a BTH.
    static std::optional<StreamKey> of(const wire::Packet& packet);

    /// The stream in the other direction, towards `qpn` of this one's sender. That is UD's own
    /// src_qpn; a connected stream's sender has to be known.
    StreamKey reversed(std::uint32_t qpn) const;

    std::uint64_t hash() const;
    friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// Mixes two numbers so that each bit of the result depends on all of theirs.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace flow
