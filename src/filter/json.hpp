// A decoded packet as one JSON object, from the table of fields: a header is an object of its
// fields, in the order of the table. A header that the packet does not have is not there, and
// neither is a field that it does not have; null stands where a field's getter says so (Null).
//
// Numbers are plain integers, as in the run logs, and exact; readers that keep 53 bits of a number
// (JavaScript, jq before 1.7) round 64-bit fields. `time` is the exact decimal number of seconds.
// Flags are true and false. Addresses and names are text; bytes are hexadecimal text. The text is
// valid JSON and UTF-8 whatever the packet has: a byte that is not part of UTF-8 becomes U+FFFD.
// docs/rocecap.md has the keys.
#pragma once

#include <string>

#include "filter/field.hpp"

namespace filter {

/// Behind `out`, one line without a line feed. Allocates nothing once `out` is large enough, but
/// for what a packet that is not complete has to say (not_roce, truncated, malformed).
void append_json(std::string& out, const View& view);

}  // namespace filter
