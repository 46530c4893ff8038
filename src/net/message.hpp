// Messages of the exchange: versioned, serialized field by field in network order, and independent
// of machine and compiler. A program rejects other versions.
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

/// Size after the header: 48 bytes for an endpoint (net/endpoint.hpp), 0 to 255 for a refusal,
/// otherwise 0.
enum class MessageType : std::uint8_t {
    Endpoint = 1,
    Ready = 2,    // the sender can receive: the peer may send
    Done = 3,     // client: all requests have completed. Server: it has drained
    Refused = 4,  // the client is not served; has the reason as text
};

/// The peer violated the protocol.
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

/// Throws ProtocolError if the header's version or type is unknown, or if the size does not fit the
/// type; the error describes what was received.
Header parse_header(util::FixedBytes<header_size> bytes);

/// Throws ProtocolError if the type is not the expected one.
void check_type(MessageType type, MessageType expected);

/// `size`: number of bytes that follow.
std::array<std::byte, header_size> serialize_header(MessageType type, std::size_t size = 0);

/// A complete Refused message, with at most the first 255 bytes of `sentence`.
std::vector<std::byte> serialize_refusal(std::string_view sentence);
/// Returns the peer's text, safe to print: see util::printable().
std::string parse_refusal(util::Bytes body);

}  // namespace net
