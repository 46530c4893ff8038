// Data that a client writes to a server's memory in chunks, and the server's report. For lessons
// about the path between the hosts.
#pragma once

#include <cstdint>

#include "net/channel.hpp"

namespace common {

struct Chunks {
    std::uint64_t size;   // bytes in total
    std::uint64_t chunk;  // bytes per WRITE; the last one may be shorter

    /// Number of packets without retransmissions. `path_mtu`: bytes.
    std::uint64_t packets(unsigned path_mtu) const;
};

/// What the server received. On the wire, in network byte order: "RW15", version 1, 3 unused bytes,
/// CRC-32, packets out of sequence, duplicates (4 bytes each), 4 unused.
struct ReceiverReport {
    static constexpr std::size_t size = 24;
    std::uint32_t crc = 0;              // of the server's memory
    std::uint32_t out_of_sequence = 0;  // counted by the server's device
    std::uint32_t duplicates = 0;       // counted by the server's device

    void send(net::Channel& channel, const net::TimeLimit& limit) const;
    /// Throws util::Error if the message is not a report.
    static ReceiverReport receive(net::Channel& channel, const net::TimeLimit& limit);
};

}  // namespace common
