// The bytes of a capture, from a file, a pipe or standard input. Decompresses gzip, zstd and lz4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "capture/decompressor.hpp"
#include "util/cursor.hpp"
#include "util/fd.hpp"

namespace capture {

class Input {
  public:
    /// `path`: a file; "-": standard input. Waits for the first bytes of a pipe. Throws util::Error
    /// if it cannot be opened, is empty, or cannot be a capture: a directory, a device.
    explicit Input(const std::string& path);

    /// Name in messages: "'run.pcapng'", "standard input", "the decompressed 'run.pcapng.gz'".
    const std::string& name() const { return name_; }

    /// The first four bytes, decompressed, or all bytes of a shorter input. read() returns them
    /// again.
    util::Bytes begin() const { return std::span(begin_).first(begin_size_); }

    /// Waits for and returns at least one byte; 0: the end. Throws util::Error, also if a signal
    /// interrupts it, or if compressed data is corrupted or incomplete.
    std::size_t read(std::span<std::byte> buffer);

    /// A descriptor at the first byte, instead of read(); none if the input is compressed, or is not
    /// a regular file.
    util::Fd rewound() const;

    bool is_file() const { return !is_stream_; }

    /// True if read() has to wait for the writer of a pipe.
    bool must_wait() const;

  private:
    std::size_t read_fd(std::span<std::byte> buffer) const;
    std::size_t read_behind_begin(std::span<std::byte> buffer);
    std::size_t decompress(std::span<std::byte> buffer);
    void look_at_begin();

    std::string name_;
    util::Fd file_;  // none: standard input
    int fd_ = -1;
    bool is_stream_ = false;
    std::array<std::byte, 4> begin_{};
    std::size_t begin_size_ = 0;
    std::size_t begin_taken_ = 0;
    std::unique_ptr<Decompressor> decompressor_;  // nullptr: input is not compressed
    std::unique_ptr<std::byte[]> compressed_;     // read from the file, not yet decompressed
    util::Bytes rest_;                            // the rest of compressed_
    std::uint64_t offset_ = 0;                    // of rest_ in the file
    bool has_ended_ = false;
    const char* error_ = nullptr;
};

}  // namespace capture
