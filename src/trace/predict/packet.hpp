// A packet of a reliable connection, with the fields that can be predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/flow/seen.hpp"

namespace predict {

enum class Kind : std::uint8_t { Send, Write, Read, Atomic, Response, Ack, Nak, RnrNak, Other };

/// "send", "write", "read", "atomic", "response", "ack", "nak", "rnr", "other".
std::string_view name(Kind kind);
/// Returns nullopt if the word names no kind; Other has no word.
std::optional<Kind> kind_of(std::string_view word);

struct ReliablePacket : flow::Seen {
    static constexpr std::size_t no_connection = SIZE_MAX;

    std::string source;  // numeric IP address
    std::string destination;
    std::uint32_t dest_qpn = 0;
    bool is_lost = false;      // lost after the capture point
    std::uint64_t stream = 0;  // number from flow::Tracker

    // Set by connect().
    std::size_t connection = no_connection;
    std::int32_t offset = 0;  // PSNs from the first one of the connection's requester
    std::uint32_t psns = 1;   // number of PSNs that it takes

    Kind kind() const;
};

/// Returns nullopt if the packet does not belong to a reliable connection.
std::optional<ReliablePacket> packet_of(std::uint64_t frame, std::int64_t t_ns,
                                        const wire::Packet& packet, std::string source,
                                        std::string destination);

/// "PSN +4".
std::string psn_text(std::int32_t offset);

}  // namespace predict
