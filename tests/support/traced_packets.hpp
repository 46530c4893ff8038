// The packets of a run of two programs traced by rocetrace: those predicted from the requests in
// the logs, and those in the capture, decoded by tshark.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "support/lab.hpp"

namespace support {

/// The fields that identify a packet, predicted or captured.
struct PacketName {
    std::string host;  // sender: "server", "client", or the address of another host
    std::uint32_t dest_qpn = 0;
    std::uint32_t source_qpn = 0;  // for UD, where several queue pairs send to one; otherwise 0
    std::uint32_t psn = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy reports the 0 in "a <=> b < 0"
    auto operator<=>(const PacketName&) const = default;
    std::string text() const;
};

struct Prediction {
    std::map<PacketName, std::string> requests;  // with their post_send events as JSON
    std::set<PacketName> read_responses;
    std::set<PacketName> acknowledgements;  // possible ACKs, NAKs and responses to atomics
    std::set<PacketName> failed;            // subset of `requests` that need not be on the wire
    std::size_t psns = 0;                   // of all posts that did not fail; a READ counts as one
    /// For each host, the datagrams to itself: its device counts them, but the capture lacks them.
    std::map<std::string, std::int64_t> inside;
};

/// Returns the prediction from both logs. A request failed if it completed with an error.
Prediction prediction_of(const LabRun& run);

/// The RoCE packets of the capture. The maps contain those between queue pairs (dest_qpn > 1), with
/// the number of transmissions of each.
struct Traffic {
    std::size_t packets = 0;
    std::size_t between_queue_pairs = 0;
    std::size_t request_packets = 0;
    std::map<std::string, std::int64_t> sent_by;  // by host; with connection management packets
    std::map<PacketName, unsigned> requests;
    std::map<PacketName, unsigned> read_responses;
    std::map<PacketName, unsigned> acknowledgements;

    bool sent_nothing_twice() const { return request_packets == requests.size(); }
};

Traffic traffic_of(const LabRun& run);

/// Expects that each predicted packet is in the capture, that each packet between queue pairs is
/// predicted by a post, and, if nothing was sent twice, that their numbers are equal. Returns the
/// number of PSNs for which this does not hold.
std::size_t expect_wire_as_predicted(const Prediction& prediction, const Traffic& traffic);

/// Expects that both devices counted the packets of the capture. A device does not count packets
/// to a queue pair that does not exist: there may be at most `uncounted` of these.
void expect_devices_count_the_same(const LabRun& run, const Prediction& prediction,
                                   const Traffic& traffic, std::int64_t uncounted = 0);

}  // namespace support
