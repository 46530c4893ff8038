// The input of the quiz: the packets of reliable connections in a capture, and the events of the
// link emulator.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/rocecap/trace_arguments.hpp"
#include "trace/predict/altered_packet.hpp"
#include "trace/predict/connections.hpp"
#include "trace/predict/packet.hpp"
#include "trace/timeline/packet_row.hpp"
#include "util/style.hpp"

namespace rocecap {

struct PredictedRun {
    /// Each with its row, whose text has the PSN as an offset, and the queue pair if there are
    /// several.
    std::vector<predict::Packet> packets;
    std::vector<timeline::PacketRow> rows;
    std::vector<predict::Connection> connections;

    struct LinkEvent {
        std::string text;  // from the run log
        predict::Placed place;
        bool is_missing = false;  // the packet, temporarily or permanently
        bool is_gone = false;     // permanently
        bool is_request = false;
    };
    /// By the index of the packet that follows; packets.size(): after the last one.
    std::multimap<std::size_t, LinkEvent> events;

    std::map<std::string, std::string> addresses;  // role -> IP address
    bool is_cut = false;                           // the capture has more packets than are kept

    /// "the server", or the address if it has no role, or several.
    std::string name_of(const std::string& address) const;
};

/// Also reads a link.jsonl in the capture's directory. Throws util::Error if there is nothing to
/// predict.
PredictedRun read_predicted_run(TraceArguments arguments, util::TextStyle style);

}  // namespace rocecap
