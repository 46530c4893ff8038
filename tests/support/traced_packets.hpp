// The packets of a run of two programs traced by rocetrace: those that the logs' requests predict,
// and those of the capture as tshark reads it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "support/lab.hpp"

namespace support {

/// What a post predicts and a packet has.
struct PacketName {
    std::string host;  // that sends it: "server" or "client"; the address where it is neither
    std::uint32_t dest_qpn = 0;
    std::uint32_t source_qpn = 0;  // of UD, where several queue pairs send to one; otherwise 0
    std::uint32_t psn = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy's, of the 0 in "a <=> b < 0"
    auto operator<=>(const PacketName&) const = default;
    std::string text() const;
};

struct Prediction {
    std::map<PacketName, std::string> requests;  // and the post_send event, as JSON
    std::set<PacketName> read_responses;
    std::set<PacketName> acknowledgements;  // ACKs, NAKs and atomics' responses that may come
    std::set<PacketName> failed;            // of `requests`: not to be expected on the wire
    std::size_t psns = 0;                   // of all posts that did not fail; a READ counts as one
    /// Of each host, the datagrams to itself: its device counts them, and they are not captured.
    std::map<std::string, std::int64_t> inside;
};

/// What both logs predict. A request failed if it completed with an error.
Prediction prediction_of(const LabRun& run);

/// The RoCE packets of the capture; the maps have those between queue pairs (dest_qpn > 1) and how
/// often each was sent.
struct Traffic {
    std::size_t packets = 0;
    std::size_t between_queue_pairs = 0;
    std::size_t request_packets = 0;
    std::map<std::string, std::int64_t> sent_by;  // host: all packets, of connection management too
    std::map<PacketName, unsigned> requests;
    std::map<PacketName, unsigned> read_responses;
    std::map<PacketName, unsigned> acknowledgements;

    bool sent_nothing_twice() const { return request_packets == requests.size(); }
};

Traffic traffic_of(const LabRun& run);

/// Expects that each predicted packet is in the capture, that each packet between queue pairs is
/// predicted by a post, and, where nothing was sent twice, that their numbers are equal. The number
/// of PSNs for which this does not hold.
std::size_t expect_wire_as_predicted(const Prediction& prediction, const Traffic& traffic);

/// Expects that both devices counted the packets of the capture. A device does not count what it
/// receives for a queue pair that it does not have: there may be at most `uncounted` of these.
void expect_devices_count_the_same(const LabRun& run, const Prediction& prediction,
                                   const Traffic& traffic, std::int64_t uncounted = 0);

}  // namespace support
