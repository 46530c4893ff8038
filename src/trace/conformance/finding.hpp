// Deviations that the models find. Each has a short, stable code and the section of the InfiniBand
// Architecture Specification, volume 1, that it violates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
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
    FirstPsn,
    PsnSkipped,
    ResendFrom,
    ResendSkips,
    ResendDiffers,
    ResendWithoutCause,
    NakIgnored,
    RnrEarly,
    TimeoutEarly,
    RetriesExceeded,
    Last = RetriesExceeded,
};

/// "ack-beyond".
std::string_view name(Code code);
/// "9.7.5.1".
std::string_view section(Code code);
/// Returns true for a finding about a responder, false for one about a requester.
constexpr bool is_responders(Code code) {
    return code < Code::FirstPsn;
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

/// What all directions have in common.
struct Shared {
    std::size_t findings = 0;    ///< kept
    std::size_t directions = 0;  ///< with models that have a window
    std::size_t recoveries = 0;  ///< kept
    std::size_t held = 0;        ///< packets whose order is not known yet
    std::uint64_t last_ns = 0;   ///< of the newest frame
    /// The greatest common divisor of the times between frames; 0: all times are equal.
    std::uint64_t time_step_ns = 0;

    void see(std::int64_t t_ns) {
        const auto now = static_cast<std::uint64_t>(t_ns);
        const std::uint64_t last = std::exchange(last_ns, now);
        time_step_ns = std::gcd(time_step_ns, std::max(now, last) - std::min(now, last));
    }

    /// By how much the capture's clock may shorten a time: some have steps of 1 to 16 ms, or stand.
    std::int64_t time_error_ns() const {
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max() / 2;
        return static_cast<std::int64_t>(time_step_ns == 0 ? most : std::min(most, time_step_ns));
    }

    /// Number of acknowledged requests that a requester with a window remembers: after a loss of
    /// acknowledgements, it may send them again.
    std::size_t window() const {
        constexpr std::size_t least = 64, most_of_one = 4096, most = 262'144;
        return std::clamp(most / std::max<std::size_t>(directions, 1), least, most_of_one);
    }
};

/// The findings about one direction. Those of all directions have a limit, beyond which only the first
/// few of each code are kept, and the others counted.
class HalfFindings {
  public:
    static constexpr std::size_t most = 20'000;      ///< of all directions
    static constexpr std::size_t least_of_each = 8;  ///< of a code and direction

    explicit HalfFindings(Shared& shared) : shared_(shared) {}

    /// The reference is valid until the next call.
    Finding& add(Finding finding);

    Findings& kept() { return kept_; }
    struct Count {
        std::uint64_t kept = 0, left_out = 0;
    };
    const std::map<Code, Count>& counts() const { return counts_; }

  private:
    Shared& shared_;
    Findings kept_;
    std::map<Code, Count> counts_;
    Finding left_out_;  // the last one
};

}  // namespace conformance
