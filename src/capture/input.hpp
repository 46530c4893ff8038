// The bytes of a capture: of a file, of a pipe, or of standard input. What is compressed (gzip, zstd,
// lz4) is decompressed.
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
    /// where it cannot be opened, has not a byte, or is something that holds no capture: a
    /// directory, a device.
    explicit Input(const std::string& path);

    /// As sentences name it: "'run.pcapng'", "standard input", "the decompressed 'run.pcapng.gz'".
    const std::string& name() const { return name_; }

    /// The first bytes, decompressed, which read() gives once more: four, or all of an input that is
    /// shorter.
    util::Bytes begin() const { return std::span(begin_).first(begin_size_); }

    /// At least one byte, as soon as there are some; 0: the end. Waits. Throws util::Error, also
    /// where a signal interrupts it, and where compressed data is damaged or breaks off.
    std::size_t read(std::span<std::byte> buffer);

    /// True where read() has to wait for somebody to write more into a pipe.
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
    std::unique_ptr<Decompressor> decompressor_;  // none: what is read is what is there
    std::unique_ptr<std::byte[]> compressed_;     // of the file, what was not decompressed yet
    util::Bytes rest_;                            // of it
    std::uint64_t offset_ = 0;                    // of rest_ in the file
    bool has_ended_ = false;
    const char* error_ = nullptr;
};

}  // namespace capture
