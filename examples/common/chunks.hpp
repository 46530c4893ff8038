// Bytes that a client writes to a server's memory in chunks, for steps whose lesson is the way
// between them; and what the server says of it.
#pragma once

#include <cstdint>

#include "examples/common/rc_link.hpp"

namespace common {

struct Chunks {
    std::uint64_t size;   // bytes in all
    std::uint64_t chunk;  // bytes of a WRITE; the last may have fewer

    /// That carry them, each sent once. `path_mtu`: bytes.
    std::uint64_t packets(unsigned path_mtu) const;

    /// Posts and logs the WRITE of the chunk that begins at byte `at` of `from`, to the same place
    /// of the remote memory. Its wr_id is the number of bytes written once it is done. Returns
    /// that. Throws std::system_error.
    std::uint64_t post(const LinkSide& side, RcLink& link, const ibv_mr& from,
                       std::uint64_t at) const;
};

/// What a server has seen of them. On the wire, in network byte order: "RWLC", version 1, 3 unused
/// bytes, CRC-32, packets out of sequence, duplicates (4 each), 4 unused.
struct Seen {
    static constexpr std::size_t size = 24;
    std::uint32_t crc = 0;              // of its memory
    std::uint32_t out_of_sequence = 0;  // counted by its device
    std::uint32_t duplicates = 0;       // counted by its device

    void send(exchange::Channel& channel, const exchange::Patience& patience) const;
    /// Throws util::Error where it is something else.
    static Seen receive(exchange::Channel& channel, const exchange::Patience& patience);
};

/// The server's part: lends `size` bytes over a link, waits until the client has done with them,
/// and sends what it has seen.
void lend(const LinkSide& side, std::uint64_t size, std::uint32_t first_psn);

}  // namespace common
