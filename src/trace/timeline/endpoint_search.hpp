// Endpoints that src/net sends in the clear, in the payload of a TCP segment.
#pragma once

#include <optional>

#include "net/endpoint.hpp"
#include "util/cursor.hpp"

namespace timeline {

/// The next endpoint message that lies in `payload` as a whole, wherever it begins; `payload` is
/// then what follows it. nullopt where there is none more. A message whose values are none
/// (net::parse_endpoint) is passed over.
std::optional<net::Endpoint> take_endpoint(util::Bytes& payload);

}  // namespace timeline
