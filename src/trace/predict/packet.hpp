// A packet of a reliable connection, with the fields that can be predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/packet.hpp"

namespace predict {

enum class Kind : std::uint8_t { Send, Write, Read, Atomic, Response, Ack, Nak, RnrNak, Other };

/// "send", "write", "read", "atomic", "response", "ack", "nak", "rnr", "other".
std::string_view name(Kind kind);
/// Returns nullopt if the word names no kind; Other has no word.
std::optional<Kind> kind_of(std::string_view word);

struct Packet {
    static constexpr std::size_t no_connection = SIZE_MAX;

    std::string source;  // numeric IP address
    std::string destination;
    std::uint32_t dest_qpn = 0;
    std::uint8_t opcode = 0;
    Kind kind = Kind::Other;
    bool is_response = false;
    bool is_sequence_nak = false;  // NAK "PSN sequence error"
    std::uint32_t length = 0;      // payload bytes; for a READ request, the bytes requested
    bool is_damaged = false;       // its ICRC is wrong: the receiver's device drops it
    bool is_lost = false;          // lost after the capture point
    wire::Psn psn;
    std::uint64_t frame = 0;   // number in the capture, from 1
    std::int64_t t_ns = 0;     // the capture's clock
    std::uint64_t stream = 0;  // number from flow::Tracker

    // Set by connect().
    std::size_t connection = no_connection;
    std::int32_t offset = 0;  // PSNs from the first one of the connection's requester
    std::uint32_t psns = 1;   // number of PSNs that it takes

    bool is_atomic_answer() const;
};

/// Returns nullopt if the packet does not belong to a reliable connection.
std::optional<Packet> packet_of(const wire::Packet& packet, std::string source,
                                std::string destination, std::int64_t t_ns);

/// "PSN +4".
std::string psn_text(std::int32_t offset);

}  // namespace predict
