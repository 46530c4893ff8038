// Bytes that a client writes to a server's memory in chunks, for lessons about the path
// between them, and what the server reports.
#pragma once

#include <cstdint>

#include "net/channel.hpp"

namespace common {

struct Chunks {
    std::uint64_t size;   // bytes in all
    std::uint64_t chunk;  // bytes of a WRITE; the last may have fewer

    /// That carry them, each sent once. `path_mtu`: bytes.
    std::uint64_t packets(unsigned path_mtu) const;
};

/// What a server has seen of them. On the wire, in network byte order: "RW15", version 1, 3 unused
/// bytes, CRC-32, packets out of sequence, duplicates (4 each), 4 unused.
struct ReceiverReport {
    static constexpr std::size_t size = 24;
    std::uint32_t crc = 0;              // of its memory
    std::uint32_t out_of_sequence = 0;  // counted by its device
    std::uint32_t duplicates = 0;       // counted by its device

    void send(net::Channel& channel, const net::TimeLimit& limit) const;
    /// Throws util::Error where it is something else.
    static ReceiverReport receive(net::Channel& channel, const net::TimeLimit& limit);
};

}  // namespace common
