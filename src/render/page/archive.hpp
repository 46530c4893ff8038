// Values that a page carries along, deflated: a browser inflates a chunk when it is needed.
#pragma once

#include <cstddef>
#include <string>

#include "util/json.hpp"

namespace page {

/// JSON values in chunks of equally many. A chunk is a JSON array in zlib's format (RFC 1950), in
/// base64, on a line of its own: what a browser's DecompressionStream("deflate") reads.
class Archive {
  public:
    /// `chunk`: how many values are inflated together.
    explicit Archive(std::size_t chunk) : chunk_(chunk) {}

    void add(const util::Json& value);

    /// The lines of all values so far. Call it once, at the end.
    std::string take();

  private:
    void close_chunk();

    std::size_t chunk_;
    std::size_t held_ = 0;
    std::string open_;   // the chunk that is not full yet, without its brackets
    std::string lines_;  // those that are
};

/// One value by itself, as a chunk is, without a line feed.
std::string deflated(const std::string& json);

}  // namespace page
