// Details of a row of the page.
//
//   packet   spans: a line "header offset length" for each, over the frame's captured bytes
//            bytes: a line "offset hexadecimal", or two if the middle of the payload is left out
//            fields: a line "number text" for each, numbered as in field_table()
//            note: what is wrong with the packet, or ""
//            Lines, since arrays take several times as long to build.
//   event    [[key, text], ...]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "capture/frame.hpp"
#include "render/page/archive.hpp"
#include "runlog/event.hpp"
#include "util/json.hpp"
#include "wire/packet.hpp"

namespace page {

/// Appends the JSON text. Keeps all headers, the first `most_payload` bytes of the payload, and what
/// follows the payload.
void append_details(std::string& json, const wire::Packet& packet, const capture::Frame& frame,
                    std::uint64_t number, std::size_t most_payload);
/// The same later: the result has its own copy of the frame.
Archive::Value details_later(const wire::Packet& packet, const capture::Frame& frame,
                             std::uint64_t number, std::size_t most_payload);

/// JSON as text. Leaves out TLS secrets, and keeps only their labels.
std::string details_of(const runlog::Event& event);

/// [{"name", "help"}, ...] of all fields, in the order of their numbers in details_of().
util::Json field_table();

/// {"bth": "BTH: base transport header", ...}: descriptions of headers, by their names in spans.
util::Json header_names();

}  // namespace page
