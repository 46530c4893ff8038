// A work request from its post to its completion, from the log and the wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/logged/collectives.hpp"
#include "wire/psn.hpp"

namespace timeline {

/// Times are nanoseconds: by the poster's clock for program events, by the capture's for packets.
struct WorkRequest {
    std::uint32_t number = 0;  // in the run's logs, from 0 in reading order
    std::string role;          // the poster
    std::uint32_t qpn = 0;
    std::uint64_t wr_id = 0;
    std::string opcode;                  // "RDMA_WRITE"
    std::uint64_t length = 0;            // bytes
    std::uint32_t packets = 0;           // PSNs of the request
    std::optional<wire::Psn> psn_first;  // nullopt: the log hides it
    std::optional<logged::Chunk> chunk;  // of a collective, that it carries

    std::int64_t posted_ns = 0;                   // poster's clock
    std::optional<std::int64_t> completed_ns;     // poster's clock; of its own completion
    std::string status;                           // of that completion: "SUCCESS"
    std::optional<std::int64_t> first_seen_ns;    // capture's clock: its first request packet
    std::optional<std::int64_t> acknowledged_ns;  // capture's clock: the whole request

    std::uint64_t sent = 0;     // request packets seen, with retransmissions
    std::uint64_t answers = 0;  // ACKs, NAKs and response packets with one of its PSNs
    std::uint64_t repeats = 0;  // packets, requests and responses, with a PSN seen before
    std::uint64_t naks = 0;     // includes RNR NAKs
};

}  // namespace timeline
