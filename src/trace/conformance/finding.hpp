// Deviations that the models find. Each has a short, stable code and the section of the InfiniBand
// Architecture Specification, volume 1, that it violates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

enum class Code : std::uint8_t {
    // responder
    AckBeyond,
    AckPsn,
    MissingAck,
    Msn,
    NakPsn,
    NakRepeated,
    NakWithoutCause,
    MissingNak,
    ReadPsn,
    ReadOpcode,
    MissingResponse,
    ResponseWithoutRequest,
    AtomicReplay,
    IcrcAnswered,
    AnswerAfterError,
    // requester
    PsnSkipped,
    ResendFrom,
    ResendSkips,
    ResendDiffers,
    ResendWithoutCause,
    NakIgnored,
    RnrEarly,
    TimeoutEarly,
};

/// "ack-beyond".
std::string_view name(Code code);
/// "9.7.5.1".
std::string_view section(Code code);
/// Returns true for a finding about a responder, false for one about a requester.
constexpr bool is_responders(Code code) {
    return code < Code::PsnSkipped;
}
/// Returns true if lost packets between a host and the capture may explain the finding. The other
/// codes are about packets that were seen and hold even if packets are missing.
bool may_be_a_missing_packet(Code code);

struct Finding {
    Code code{};
    std::uint64_t frame = 0;  ///< where it is visible
    std::int64_t t_ns = 0;
    std::string text;                    ///< one sentence, without the frame's own number
    std::vector<std::uint64_t> because;  ///< other frames that the finding is based on
    bool is_programs = false;            ///< the program caused it, not its device
    std::size_t connection = 0;          ///< index, set by Checker
    bool forward = true;                 ///< about the requests of the connection's first end
};

using Findings = std::vector<Finding>;

}  // namespace conformance
