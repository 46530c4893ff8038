// The fields of a packet that determine its queue pair and request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace timeline {

/// Key of a packet of a connected queue pair, or of a datagram.
struct PacketKey {
    std::string destination;     // numeric IP address
    std::uint32_t dest_qpn = 0;  // 24 bits
    std::uint32_t psn = 0;       // 24 bits
    bool is_response = false;    // ACK, NAK, READ response, atomic acknowledge
    bool starts_message = true;  // request: First, Only, READ request, atomic
    bool is_nak = false;         // includes RNR NAKs
    std::int64_t t_ns = 0;       // the capture's clock
    std::string source = {};     // numeric IP address; empty: unknown
    std::optional<std::uint32_t> source_qpn = std::nullopt;  // datagrams only, from the DETH
};

/// Key of a connection manager message.
struct CmKey {
    /// Those that a call sends.
    enum class Kind : std::uint8_t { Other, ConnectRequest, ConnectReply, DisconnectRequest };

    std::string source;
    std::string destination;
    std::uint32_t local_id = 0;              // the sender's communication ID; 0: none
    std::uint32_t remote_id = 0;             // the receiver's
    std::optional<std::uint32_t> local_qpn;  // in a ConnectRequest or ConnectReply
    Kind kind = Kind::Other;
};

/// Key of a TCP segment.
struct SegmentKey {
    std::string source;
    std::string destination;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
};

/// Whether a packet with that PSN was seen before. Late: not itself, but one after it. The packet
/// was lost before the capture and retransmitted, or overtaken.
enum class Transmission : std::uint8_t { First, Again, Late };

}  // namespace timeline
