// What the link emulator did to a packet, the recovery that the specification requires, and the
// recovery that followed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/requester.hpp"
#include "trace/conformance/responder.hpp"

namespace conformance {

enum class Verdict : std::uint8_t { AsSpecified, Deviation, Undetermined };

/// "as specified", "deviation", "undetermined".
std::string_view name(Verdict verdict);

struct Recovery {
    ObservedPacket packet;  ///< as it was sent; `fate` says what the link emulator did
    std::size_t connection = 0;
    bool forward = true;
    bool is_request = true;
    GoBack predicted = GoBack::None;
    std::string prediction;  ///< reason, a clause
    std::optional<Resend> resend;
    /// The response that ended it, at the requester, or that covered a lost response.
    std::optional<std::uint64_t> ended_by;
    /// From the first packet that revealed the loss to the departure of the NAK; for a timeout,
    /// from the last request to the retransmission.
    std::optional<std::int64_t> detection_ns;
    /// From the arrival of the NAK to the first retransmitted packet.
    std::optional<std::int64_t> reaction_ns;
    std::optional<std::uint64_t> behind;  ///< the request that arrived after the gap
    std::optional<std::uint64_t> nak;     ///< the NAK, as sent
    std::uint64_t nak_copy = 0;           ///< as it arrived; 0: it did not
    bool is_accepted_later = false;       ///< a later copy of the request
    bool gave_up = false;
    Verdict verdict = Verdict::AsSpecified;

    GoBack seen() const { return resend ? resend->cause : GoBack::None; }
};

/// Returns one entry for each packet that the link emulator did not simply forward, in order: of the
/// steps with frames from `begin` to before `end`. Steps and models may lack what came long before or
/// after. judge() sets `gave_up` and `verdict`.
std::vector<Recovery> recoveries(const std::deque<Step>& steps, std::uint64_t begin,
                                 std::uint64_t end, const Responder& responder,
                                 const Requester& requester);

/// All of one direction. `gave_up`: its requester did. `findings`: about the direction, and those that
/// missing packets may explain.
void judge(std::vector<Recovery>& recoveries, const Findings& findings, const Findings& unknowable,
           bool gave_up);

}  // namespace conformance
