// Deflated values in a page: the browser inflates a chunk when it needs it.
#pragma once

#include <cstddef>
#include <string>

#include "util/json.hpp"

namespace page {

/// JSON values in chunks of equal count. A chunk is a JSON array in zlib's format (RFC 1950), in
/// base64, on its own line, for a browser's DecompressionStream("deflate").
class Archive {
  public:
    /// `chunk`: number of values that are inflated together.
    explicit Archive(std::size_t chunk) : chunk_(chunk) {}

    void add(const util::Json& value);

    /// Returns the lines of all values. Call it once, at the end.
    std::string take();

  private:
    void close_chunk();

    std::size_t chunk_;
    std::size_t held_ = 0;
    std::string open_;   // incomplete chunk, without its closing bracket
    std::string lines_;  // complete chunks
};

/// Encodes a single value as a chunk is encoded, without a line feed.
std::string deflated(const std::string& json);

}  // namespace page
