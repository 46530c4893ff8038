// Compressed captures: gzip, zstd and lz4, told by their first bytes. Streaming, in memory that
// does not depend on how much comes out.
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
        std::size_t taken = 0;  ///< bytes of `in`
        std::size_t made = 0;   ///< bytes at the beginning of `out`
        /// What is wrong with the data, static text: there is no further step.
        const char* error = nullptr;
    };
    /// Goes on as far as `in` and `out` let it; `in` is empty at the end of the input. Files that
    /// are appended to each other are one.
    virtual Step step(util::Bytes in, std::span<std::byte> out) = 0;

    /// Whether the input may end here: not inside of a file.
    virtual bool may_end() const = 0;

    /// "gzip".
    virtual const char* name() const = 0;
};

/// `begin`: a file's first four bytes. nullptr where it is not compressed. Throws std::bad_alloc.
std::unique_ptr<Decompressor> decompressor_of(util::Bytes begin);

std::unique_ptr<Decompressor> gzip_decompressor();
std::unique_ptr<Decompressor> zstd_decompressor();
std::unique_ptr<Decompressor> lz4_decompressor();

}  // namespace capture
