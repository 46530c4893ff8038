// The first PSN of each direction of a capture's connections, its origin, and the packets from
// which an observer on the path can read it. first_psn_search.hpp finds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace timeline {

/// One direction of a connection, as long as its queue pair is the first one with its number.
/// Frames are numbers in the capture, from 1.
struct FirstPsn {
    std::string from, to;   // "client" or "server"; `to` is empty if the peer is in no log;
                            // IP addresses if no log has the direction
    std::uint32_t qpn = 0;  // 0: unknown
    std::uint32_t dest_qpn = 0;
    /// nullopt if the log hides it and no packet shows it, if the log does not have it, or if the
    /// capture begins later.
    std::optional<std::uint32_t> psn;
    bool hidden = false;    // the log has "secret" for it: a value in `psn` is from the wire
    std::string chosen_by;  // empty: unknown

    /// Messages that announce it unencrypted, readable by the receiver and anyone else.
    std::vector<std::uint64_t> connect_requests;
    std::vector<std::uint64_t> connect_replies;
    std::vector<std::uint64_t> tcp_segments;  // with an endpoint as src/net sends it
    /// Packets with it in their BTH: this direction's requests, and responses to them.
    std::vector<std::uint64_t> bths;

    bool is_announced() const {
        return !connect_requests.empty() || !connect_replies.empty() || !tcp_segments.empty();
    }
};

struct FirstPsns {
    std::string run;   // name of the directory, or of the capture
    std::string step;  // "06_verbs_tcp_exchange"; empty if run.json does not have it
    bool has_logs = false;
    bool has_capture = false;
    std::uint64_t packets = 0;
    std::uint64_t roce_packets = 0;  // of these
    std::string capture_damage;      // as TraceInput::capture_damage()
    std::string left_out;            // as wire::RoceFlows::left_out_text()
    std::vector<FirstPsn> directions;
};

}  // namespace timeline
