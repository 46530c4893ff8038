// The capability: memory that a peer may read and write. The address and the rkey are sufficient
// for access.
//
// It is sent in rdma_cm's private data (at most 196 bytes in a REP for RDMA_PS_TCP,
// rdma_accept(3)), field by field in network order:
//
//     offset  0   4 bytes   "RWL" and the version, 1
//             4   4 bytes   rkey
//             8   8 bytes   va
//            16   8 bytes   length in bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <rdma/rdma_cma.h>

#include "runlog/event.hpp"

namespace rdma {

struct Capability {
    static constexpr std::size_t size = 24;

    std::uint64_t va = 0;
    std::uint64_t length = 0;
    std::uint32_t rkey = 0;

    std::array<std::byte, size> serialize() const;

    /// Throws util::Error if there are too few bytes or if they do not begin with this program's
    /// mark. rdma_cm pads private data with zeros, so more bytes than `size` are normal.
    static Capability parse(std::span<const std::byte> bytes);
    /// The same for the private data of an event (rdma_get_cm_event(3)).
    static Capability parse(const rdma_conn_param& received);

    bool operator==(const Capability&) const = default;
};

/// A run log "exchange" event; `direction` is "sent" or "received".
runlog::Fields describe(const Capability& capability, std::string_view direction);

}  // namespace rdma
