// Writes a decoded packet as one JSON object, from the table of fields: each header is an object of
// its fields, in the order of the table. Headers and fields that the packet does not have are left
// out; a field is null if its getter returns Null.
//
// Numbers are plain integers, as in the run logs, and exact; readers with 53-bit numbers
// (JavaScript, jq before 1.7) round 64-bit fields. `time` is the exact decimal number of seconds.
// Flags are true and false. Addresses and names are text; bytes are hexadecimal text. The output is
// valid JSON and UTF-8 for any packet: a byte that is not part of UTF-8 becomes U+FFFD.
// docs/rocecap.md lists the keys.
#pragma once

#include <string>

#include "filter/field.hpp"

namespace filter {

/// Appends one line without a line feed to `out`. Allocates nothing once `out` is large enough,
/// except for the reasons of an incomplete packet (not_roce, truncated, malformed).
void append_json(std::string& out, const View& view);

}  // namespace filter
