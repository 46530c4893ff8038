// A packet of a reliable connection, as far as one can predict it.
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
/// nullopt for a word that names none; Other has no word.
std::optional<Kind> kind_of(std::string_view word);

struct Packet {
    static constexpr std::size_t no_connection = SIZE_MAX;

    std::string source;  // IP address, digits
    std::string destination;
    std::uint32_t dest_qpn = 0;
    std::uint8_t opcode = 0;
    Kind kind = Kind::Other;
    bool is_response = false;
    bool is_sequence_nak = false;  // NAK "PSN sequence error"
    std::uint32_t length = 0;      // bytes of payload; of a READ request those that it asks for
    bool is_damaged = false;       // its ICRC is wrong: the receiver's device drops it
    bool is_lost = false;          // it was taken behind the place of the capture
    wire::Psn psn;
    std::uint64_t frame = 0;   // its number in the capture, from 1
    std::int64_t t_ns = 0;     // the capture's clock
    std::uint64_t stream = 0;  // flow::Tracker's number of it

    // What connect() finds.
    std::size_t connection = no_connection;
    std::int32_t offset = 0;  // PSNs from the first one of the connection's requester
    std::uint32_t psns = 1;   // that it takes

    bool is_atomic_answer() const;
};

/// nullopt where it is none of a reliable connection.
std::optional<Packet> packet_of(const wire::Packet& packet, std::string source,
                                std::string destination, std::int64_t t_ns);

/// "PSN +4".
std::string psn_text(std::int32_t offset);

}  // namespace predict
