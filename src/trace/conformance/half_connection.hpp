// HalfConnection a connection: the requests of one end and what the other end answers, in the order in which
// the link emulator saw them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/conformance/observed_packet.hpp"
#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/request_sequence.hpp"

namespace conformance {

/// What is known of it beside its packets.
struct HalfConnectionFacts {
    flow::PathMtu path_mtu = flow::largest_path_mtu;
    /// The first request's PSN; nullopt where the capture begins in the middle of a message.
    std::optional<wire::Psn> first_psn;
    /// It is told by the connection manager or a run log, and not only the first one seen.
    bool is_told = false;
    /// The requester's: shorter than the timeout it may not wait for a response.
    flow::RetrySettings retry;
};

enum class StepKind : std::uint8_t { RequestSent, RequestArrived, ResponseSent, ResponseArrived };

struct Step {
    StepKind kind{};
    ObservedPacket seen;
};

struct HalfConnection {
    flow::StreamKey requests;   ///< from requester to responder
    flow::StreamKey responses;  ///< and back; its dest_qpn is unknown_qpn where nobody tells it
    HalfConnectionFacts facts;
    std::vector<Step> steps;
    std::int64_t end_ns = 0;  ///< of the capture's last frame
};

inline constexpr std::uint32_t unknown_qpn = 0xffffffff;

/// PSNs that a request takes.
inline std::uint32_t psns_of(const ObservedPacket& request, flow::PathMtu path_mtu) {
    return request.is(wire::Operation::RdmaReadRequest) ? flow::read_psns(request.dmalen, path_mtu)
                                                        : 1;
}

}  // namespace conformance
