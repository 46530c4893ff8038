// The messages of the exchange: versioned, serialized field by field in network order. Programs of
// different machines and compilers understand each other; a program refuses another version.
//
//     offset  0   4 bytes   "RWLX"
//             4   1         version, 1
//             5   1         type, a MessageType
//             6   2         bytes that follow
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/cursor.hpp"
#include "util/error.hpp"

namespace net {

/// What follows the header: 48 bytes of an endpoint (exchange/endpoint.hpp), 0 to 255 of a refusal,
/// nothing else of the others.
enum class MessageType : std::uint8_t {
    Endpoint = 1,
    Ready = 2,    // I can receive: you may send
    Done = 3,     // of a client: all my requests have completed. Of a server: and I have drained
    Refused = 4,  // you will not be served: a sentence why
};

/// The peer sent what the protocol does not have, or not then.
class ProtocolError : public util::Error {
    using util::Error::Error;
};

inline constexpr std::size_t header_size = 8;
inline constexpr std::size_t endpoint_size = 48;
inline constexpr std::size_t longest_refusal = 255;

struct Header {
    MessageType type;
    std::size_t size;  // bytes that follow
};

/// Throws ProtocolError where this is no header of this version, no known type, or not of that
/// type's size: the sentence says what came instead.
Header parse_header(util::FixedBytes<header_size> bytes);

/// And where it is of another type than the expected one.
void check_type(MessageType type, MessageType expected);

/// `size`: as many bytes as follow.
std::array<std::byte, header_size> serialize_header(MessageType type, std::size_t size = 0);

/// A whole Refused message. Of a longer sentence, the first 255 bytes.
std::vector<std::byte> serialize_refusal(std::string_view sentence);
/// What the peer wrote, safe to print: as util::printable().
std::string parse_refusal(util::Bytes body);

}  // namespace net
