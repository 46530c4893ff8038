// The packets of atomics in a run's capture, decoded by tshark.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// A FetchAdd, a CmpSwap, or an ATOMIC Acknowledge. A response has only `original`, a request all
/// other fields.
struct AtomicPacket {
    bool is_answer = false;
    std::uint64_t dest_qpn = 0, psn = 0;
    std::uint64_t va = 0, rkey = 0, swap = 0, compare = 0, original = 0;
};

/// Returns the packets in the order of the capture.
std::vector<AtomicPacket> atomic_packets(const LabRun& run);

/// The packets to one queue pair with the same PSN: several if it was retransmitted.
using ByPsn = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<AtomicPacket>>;

/// Groups the responses if `answers` is set, otherwise the requests.
ByPsn by_psn(const std::vector<AtomicPacket>& packets, bool answers);

}  // namespace support
