#include "trace/conformance/finding.hpp"

#include <array>
#include <utility>

namespace conformance {
namespace {

struct CodeRow {
    Code code;
    std::string_view name;
    std::string_view section;
    bool may_be_a_missing_packet;
};

// 9.6 header validation, 9.7.3 generating requests, 9.7.5.1 PSNs of responses, 9.7.5.2 their AETH,
// 9.7.5.2.8 RNR NAK, 9.7.6.1 responses at the requester, 9.7.6.1.3 timeouts, 9.7.7.1 MSN, 9.9.3
// errors of a responder, 12.6 contents of the connection manager's messages.
constexpr auto rows = std::to_array<CodeRow>({
    {Code::AckBeyond, "ack-beyond", "9.7.5.1", false},
    {Code::AckPsn, "ack-psn", "9.7.5.1", true},
    {Code::MissingAck, "missing-ack", "9.7.5.1", true},
    {Code::Msn, "msn", "9.7.7.1", true},
    {Code::NakPsn, "nak-psn", "9.7.5.2", true},
    {Code::NakRepeated, "nak-repeated", "9.7.5.2", true},
    {Code::NakWithoutCause, "nak-without-cause", "9.7.5.2", true},
    {Code::MissingNak, "missing-nak", "9.7.5.2", true},
    {Code::ReadPsn, "read-psn", "9.7.5.1", true},
    {Code::ReadOpcode, "read-opcode", "9.7.5.1", true},
    {Code::MissingResponse, "missing-response", "9.7.5.1", true},
    {Code::ResponseWithoutRequest, "response-without-request", "9.7.5.1", true},
    {Code::AtomicReplay, "atomic-replay", "9.7.5.1", false},
    {Code::IcrcAnswered, "icrc-answered", "9.6", false},
    {Code::AnswerAfterError, "answer-after-error", "9.9.3", false},
    {Code::FirstPsn, "first-psn", "12.6", false},
    {Code::PsnSkipped, "psn-skipped", "9.7.3.1", true},
    {Code::ResendFrom, "resend-from", "9.7.6.1", true},
    {Code::ResendSkips, "resend-skips", "9.7.6.1", true},
    {Code::ResendDiffers, "resend-differs", "9.7.3", false},
    {Code::ResendWithoutCause, "resend-without-cause", "9.7.6.1", true},
    {Code::NakIgnored, "nak-ignored", "9.7.6.1", true},
    {Code::RnrEarly, "rnr-early", "9.7.5.2.8", false},
    {Code::TimeoutEarly, "timeout-early", "9.7.6.1.3", true},
    {Code::RetriesExceeded, "retries-exceeded", "9.7.6.1.3", true},
});

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].code) != i)
            return false;
    return true;
}
static_assert(is_in_order());

}  // namespace

std::string_view name(Code code) {
    return rows[static_cast<std::size_t>(code)].name;
}

std::string_view section(Code code) {
    return rows[static_cast<std::size_t>(code)].section;
}

bool may_be_a_missing_packet(Code code) {
    return rows[static_cast<std::size_t>(code)].may_be_a_missing_packet;
}

Finding& HalfFindings::add(Finding finding) {
    Count& count = counts_[finding.code];
    if (shared_.findings >= most && count.kept >= least_of_each) {
        ++count.left_out;
        return left_out_ = std::move(finding);
    }
    ++shared_.findings;
    ++count.kept;
    return kept_.emplace_back(std::move(finding));
}

}  // namespace conformance
