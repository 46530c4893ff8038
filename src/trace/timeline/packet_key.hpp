// The fields of a packet that determine its queue pair and request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace timeline {

/// Of a packet of a connected queue pair, or of a datagram's.
struct PacketKey {
    std::string destination;     // IP address, digits
    std::uint32_t dest_qpn = 0;  // 24 bits
    std::uint32_t psn = 0;       // 24 bits
    bool is_response = false;    // ACK, NAK, READ response, atomic acknowledge
    bool starts_message = true;  // a request's: First, Only, READ request, atomic
    bool is_nak = false;         // RNR NAKs too
    std::int64_t t_ns = 0;       // the capture's clock
    std::string source = {};     // IP address, digits; empty: not known
    std::optional<std::uint32_t> source_qpn = std::nullopt;  // of a datagram alone: its DETH
};

/// Of a connection manager's message.
struct CmKey {
    std::string source;
    std::string destination;
    std::uint32_t local_id = 0;              // the sender's communication ID; 0: it has none
    std::uint32_t remote_id = 0;             // the receiver's
    std::optional<std::uint32_t> local_qpn;  // of a ConnectRequest or ConnectReply
};

/// Of a TCP segment.
struct SegmentKey {
    std::string source;
    std::string destination;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
};

/// Whether a packet with that PSN was seen before. Late: not itself, but one that follows it: it
/// was lost before the capture and sent again, or overtaken.
enum class Transmission : std::uint8_t { First, Again, Late };

}  // namespace timeline
