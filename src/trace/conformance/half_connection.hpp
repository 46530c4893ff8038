// One direction of a connection: the requests of one end and the responses of the other end, in the
// order in which the link emulator saw them.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/conformance/observed_packet.hpp"
#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/request_sequence.hpp"

namespace conformance {

/// What sources other than its packets reveal about a direction.
struct HalfConnectionFacts {
    flow::PathMtu path_mtu = flow::largest_path_mtu;
    /// PSN of the first request; nullopt if the capture begins in the middle of a message.
    std::optional<wire::Psn> first_psn;
    /// True if first_psn comes from the connection manager or from a run log. Otherwise it is the
    /// PSN of the first packet in the capture.
    bool is_told = false;
    /// The requester's settings: it must wait at least the timeout for a response.
    flow::RetrySettings retry;
    /// A capture at one point may have dropped packets.
    bool may_lack_packets = false;
};

/// What the models remember of a half connection.
enum class Keep : std::uint8_t {
    All,     ///< all packets
    Part,    ///< what may still be repeated or answered, and the last parts, for recoveries()
    Window,  ///< what may still be repeated or answered
};

enum class StepKind : std::uint8_t { RequestSent, RequestArrived, ResponseSent, ResponseArrived };

struct Step {
    StepKind kind{};
    ObservedPacket seen;
};

}  // namespace conformance
