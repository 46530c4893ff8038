// The first request of a direction that the responder refused, from packets or a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/explain/rules.hpp"

namespace explain {

/// Codes of a NAK (IBTA volume 1, 9.7.5.2.4).
enum class Refused : std::uint8_t { Sequence = 0, Invalid = 1, Access = 2, Operational = 3 };

struct RefusedRequest {
    Refused reason{};
    std::string_view right;  ///< access right required: "remote_write"; empty: none
    bool fills_receive =
        false;  ///< a SEND; a WRITE with immediate data takes a receive of any size
    std::uint64_t va = 0, length = 0;  ///< bytes
    std::uint32_t rkey = 0;
    bool is_cut =
        false;  ///< va, rkey and the length of a READ are unknown: the capture cut them off
    std::uint32_t payload = 0;     ///< of its largest known packet, bytes
    std::int64_t refused_ns = 0;   ///< time of the NAK; without a NAK, of the completion
    const Seen* packet = nullptr;  ///< the packet that the NAK refuses; nullptr: not in the capture
    std::vector<Evidence> evidence;  ///< the request, then the refusal

    /// Returns whether the queue pair lacks the right, as far as known. `responder`: nullptr: unknown.
    bool is_forbidden_by(const LoggedQueuePair* responder) const;
};

/// Returns nullopt if nothing was refused, or if the request is unknown.
std::optional<RefusedRequest> refused_request(const Case& one);

/// Adds a fatal cause with the request's evidence.
Cause& add_refused(const Case& one, const RefusedRequest& request, Causes& causes, Code code,
                   Certainty certainty, std::string text);
/// Adds a right that the responder's queue pair lacks. See RefusedRequest::is_forbidden_by().
void add_forbidden(const Case& one, const RefusedRequest& request, Causes& causes);
/// Its text, and the queue pair's rights.
std::string forbidden_text(const LoggedQueuePair& responder, const RefusedRequest& request);
Evidence access_of(const LoggedQueuePair& responder);
/// How the access is outside of the region: "the access begins 8 bytes before the region."
std::string bounds_text(const Case& one, const RefusedRequest& request, const Region& region);
/// NAK Remote Access Error, without the responder's log. Part of explain_refusal().
void explain_without_log(const Case& one, const RefusedRequest& request, Causes& causes);
/// The same by the accesses with this rkey that the responder executed before. Returns whether they
/// show a cause.
bool explain_as_accepted(const Case& one, const RefusedRequest& request, Causes& causes);
/// NAK Invalid Request or Remote Operational Error. Part of explain_refusal().
void explain_not_executed(const Case& one, const RefusedRequest& request, Causes& causes);

/// Returns the access right that a request packet requires: "remote_write"; empty: none.
std::string_view right_of(const Seen& request);
/// The same of a posted request.
std::string_view right_of(const Post& post);
/// Returns whether a request that requires this right is a READ or an atomic.
bool is_read_or_atomic(std::string_view right);

}  // namespace explain
