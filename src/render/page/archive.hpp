// Deflated values in a page: the browser inflates a chunk when it needs it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/json.hpp"

namespace page {

/// JSON values in chunks of equal count. A chunk is a JSON array in zlib's format (RFC 1950), in
/// base64, on its own line, for a browser's DecompressionStream("deflate").
/// Begins to encode a chunk (deflated()), perhaps on another thread; the result waits for the text.
using Encode = std::function<std::function<std::string()>(std::string json)>;

class Archive {
  public:
    /// `chunk`: number of values that are inflated together.
    Archive(std::size_t chunk, Encode encode) : chunk_(chunk), encode_(std::move(encode)) {}

    void add(const util::Json& value);
    /// Adds a value that is JSON already. A packet is written as text: a tree of values takes
    /// several times as long.
    void add_text(std::string_view json);

    /// Returns the lines of all values. Call it once, at the end.
    std::string take();

  private:
    void close_chunk();

    std::size_t chunk_;
    Encode encode_;
    std::size_t held_ = 0;
    std::string open_;  // incomplete chunk, without its closing bracket
    std::vector<std::function<std::string()>> lines_;  // complete chunks
};

/// The text as a JSON string.
std::string json_string(std::string_view text);

/// Encodes a chunk, or a single value, without a line feed. Any thread may call it.
std::string deflated(const std::string& json);
/// Encodes a chunk at once.
std::function<std::string()> encode(const std::string& json);

}  // namespace page
