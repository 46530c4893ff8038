// Compressed captures: gzip, zstd and lz4, detected by their first bytes. Streaming: memory use
// does not depend on the size of the output.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "util/cursor.hpp"

namespace capture {

class Decompressor {
  public:
    Decompressor() = default;
    virtual ~Decompressor() = default;
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;
    Decompressor(Decompressor&&) = delete;
    Decompressor& operator=(Decompressor&&) = delete;

    struct Step {
        std::size_t taken = 0;  ///< bytes consumed from `in`
        std::size_t made = 0;   ///< bytes written to the start of `out`
        /// What is wrong with the data, static text. If set, step() must not be called again.
        const char* error = nullptr;
    };
    /// Decompresses as much as `in` and `out` allow; `in` is empty at the end of the input. Treats
    /// concatenated files as one.
    virtual Step step(util::Bytes in, std::span<std::byte> out) = 0;

    /// Whether the input may end here, that is, not inside a file.
    virtual bool may_end() const = 0;

    /// "gzip".
    virtual const char* name() const = 0;
};

/// `begin`: the first four bytes of a file. nullptr if it is not compressed. Throws std::bad_alloc.
std::unique_ptr<Decompressor> decompressor_of(util::Bytes begin);

}  // namespace capture
