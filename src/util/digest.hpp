// FNV-1a with 64 bits on every machine: compares contents that no adversary chose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/cursor.hpp"

namespace util {

class Digest {
  public:
    void add(std::uint64_t value) {
        for (int i = 0; i < 8; ++i)
            add_byte(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void add(Bytes bytes) {
        for (const std::byte one : bytes)
            add_byte(std::to_integer<std::uint8_t>(one));
    }
    std::uint64_t value() const { return value_; }

  private:
    void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

    std::uint64_t value_ = 0xcbf29ce484222325;
};

/// The digest of these bytes alone.
inline std::uint64_t digest_of(Bytes bytes) {
    Digest digest;
    digest.add(bytes);
    return digest.value();
}

}  // namespace util
