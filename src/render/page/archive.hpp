// Deflated values in a page: the browser inflates a chunk when it needs it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace page {

/// Makes the line of a chunk. Any thread may call it, once.
using Line = std::function<std::string()>;
/// Begins to make a line, perhaps on another thread; the result waits for it.
using Encode = std::function<Line(Line make)>;

/// JSON values in chunks of equal count. A chunk is a JSON array in zlib's format (RFC 1950), in
/// base64, on its own line, for a browser's DecompressionStream("deflate").
class Archive {
  public:
    /// Appends a value's JSON. Any thread may call it, once.
    using Value = std::function<void(std::string& json)>;

    /// `chunk`: number of values that are inflated together.
    Archive(std::size_t chunk, Encode encode) : chunk_(chunk), encode_(std::move(encode)) {}

    /// Adds a value as JSON text: a tree of values takes several times as long.
    void add(std::string json);
    /// Adds a value that is made together with the line of its chunk.
    void add_later(Value value);

    /// Returns the lines of all values. Call it once, at the end.
    std::string take();

  private:
    using Part = std::variant<std::string, Value>;

    void add_part(Part part);
    void close_chunk();

    std::size_t chunk_;
    Encode encode_;
    std::vector<Part> open_;   // incomplete chunk
    std::vector<Line> lines_;  // complete chunks
};

/// The text as a JSON string.
std::string json_string(std::string_view text);

/// Deflates JSON to a line without a line feed. Any thread may call it.
std::string deflated(const std::string& json);
/// Makes a line at once.
Line encode(const Line& make);

}  // namespace page
