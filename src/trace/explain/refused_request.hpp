// The first request of a direction that the responder refused, as the wire or a log has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/explain/rules.hpp"

namespace explain {

/// Codes of a NAK (IBTA volume 1, 9.7.5.2.4).
enum class Refused : std::uint8_t { Sequence = 0, Invalid = 1, Access = 2, Operational = 3 };

struct RefusedRequest {
    Refused reason{};
    std::string_view right;  ///< that it needs: "remote_write"; empty: none
    bool is_read_or_atomic = false;
    bool takes_receive = false;
    std::uint64_t va = 0, length = 0;  ///< bytes
    std::uint32_t rkey = 0;
    std::uint32_t payload = 0;       ///< of its largest packet that is known, bytes
    std::int64_t refused_ns = 0;     ///< of the NAK; without one, of the completion
    const Seen* packet = nullptr;    ///< that the NAK is about; nullptr: not in the capture
    std::vector<Evidence> evidence;  ///< the request, then what refused it
};

/// nullopt: nothing was refused, or not known which request.
std::optional<RefusedRequest> refused_request(const Case& one);

/// Bytes of the message that a packet belongs to, and its first packet; the packet itself where the
/// message begins before the capture.
struct Message {
    const Seen* first = nullptr;
    std::uint64_t length = 0;
};
Message message_of(const Direction& direction, const Seen& packet);

/// A READ or an atomic operation.
bool is_read_or_atomic(wire::Operation operation);

}  // namespace explain
