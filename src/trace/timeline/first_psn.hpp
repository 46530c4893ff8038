// The first PSN of each direction of a capture's connections, what chose it, and the packets from
// which an observer on the path can read it.
//
// Directions are those that the run logs tell of; those of connections whose ConnectRequest and
// ConnectReply are in the capture; and, without any log, those whose packets are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/timeline/trace_files.hpp"

namespace timeline {

/// What one end of a connection sends, as long as its queue pair has its number for the first time.
/// Frames are numbers in the capture, from 1.
struct FirstPsn {
    std::string from, to;   // "client" or "server"; `to` is empty where the peer is in no log;
                            // IP addresses where no log has the direction
    std::uint32_t qpn = 0;  // 0: unknown
    std::uint32_t dest_qpn = 0;
    /// nullopt where the log hides it and no packet shows it, or the log has none, or the capture
    /// begins later.
    std::optional<std::uint32_t> psn;
    bool hidden = false;    // the log has "secret" for it: where there is one, the wire showed it
    std::string chosen_by;  // empty where nothing says it

    /// Messages that announce it in the clear, for the receiver or anyone.
    std::vector<std::uint64_t> connect_requests;
    std::vector<std::uint64_t> connect_replies;
    std::vector<std::uint64_t> tcp_segments;  // with an endpoint as src/net sends it
    /// Packets that have it in their BTH: this direction's requests, and responses to them.
    std::vector<std::uint64_t> bths;

    bool is_announced() const {
        return !connect_requests.empty() || !connect_replies.empty() || !tcp_segments.empty();
    }
};

struct FirstPsns {
    std::string run;   // the directory's name, or the capture's
    std::string step;  // "06_verbs_tcp_exchange"; empty where run.json does not say
    bool has_logs = false;
    bool has_capture = false;
    std::uint64_t packets = 0;
    std::uint64_t roce_packets = 0;  // of these
    bool capture_is_cut = false;     // it ends inside a packet
    std::vector<FirstPsn> directions;
};

/// Reads the files as they are now. Throws util::Error where they cannot be read.
FirstPsns first_psns(const TraceFiles& files);

}  // namespace timeline
