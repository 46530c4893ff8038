// Endpoints that src/net sends unencrypted, in the payload of a TCP segment.
#pragma once

#include <optional>

#include "net/endpoint.hpp"
#include "util/cursor.hpp"

namespace timeline {

/// Returns the next complete endpoint message in `payload`, at any offset, and sets `payload` to
/// the bytes after it. Returns nullopt if there is none. Skips messages with invalid values
/// (net::parse_endpoint).
std::optional<net::Endpoint> take_endpoint(util::Bytes& payload);

}  // namespace timeline
