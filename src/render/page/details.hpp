// What a row of the page opens to.
//
//   of a packet   spans: a line "header offset length" for each, over the frame's captured bytes
//                 bytes: a line "offset hexadecimal": one, or two around what is left of the payload
//                 fields: a line "number text" for each, by field_table()
//                 note: what is wrong with it, or ""
//                 Lines, as arrays take several times as long to make.
//   of an event   [[key, text], ...]
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/frame.hpp"
#include "render/page/archive.hpp"
#include "runlog/event.hpp"
#include "util/json.hpp"
#include "wire/packet.hpp"

namespace page {

/// Of the payload `most_payload` bytes are kept; all headers are, and what is behind it.
util::Json details_of(const wire::Packet& packet, const capture::Frame& frame, std::uint64_t number,
                      std::size_t most_payload);

/// Secrets of TLS are left out: only whose they are is said.
util::Json details_of(const runlog::Event& event);

/// [{"name", "help"}, ...] of all fields, in the order that details_of() numbers them by.
util::Json field_table();

/// {"bth": "BTH: base transport header", ...}: headers by the names that spans have.
util::Json header_names();

}  // namespace page
