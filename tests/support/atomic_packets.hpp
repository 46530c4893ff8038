// The packets of atomics in a run's capture, as another decoder reads them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/lab.hpp"

namespace support {

/// A FetchAdd, a CmpSwap, or an ATOMIC Acknowledge. Of an answer only `original` is there, of a
/// request all but that.
struct AtomicPacket {
    bool is_answer = false;
    std::uint64_t dest_qpn = 0, psn = 0;
    std::uint64_t va = 0, rkey = 0, swap = 0, compare = 0, original = 0;
};

/// In the order of the wire (tshark).
std::vector<AtomicPacket> atomic_packets(const LabRun& run);

/// Those to one queue pair that have the same PSN: more than one where it was sent again.
using ByPsn = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<AtomicPacket>>;

/// The answers, or else the requests.
ByPsn by_psn(const std::vector<AtomicPacket>& packets, bool answers);

}  // namespace support
