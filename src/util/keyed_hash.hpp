// SipHash-2-4: a hash that tells nothing about its input to anyone who does not know the key.
// Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "util/cursor.hpp"

namespace util {

class KeyedHash {
  public:
    using Key = std::array<std::uint64_t, 2>;

    explicit KeyedHash(const Key& key)
        : a_(key[0] ^ 0x736f6d6570736575),
          b_(key[1] ^ 0x646f72616e646f6d),
          c_(key[0] ^ 0x6c7967656e657261),
          d_(key[1] ^ 0x7465646279746573) {}

    /// Adds eight bytes, the lowest first.
    void add(std::uint64_t word) {
        d_ ^= word;
        mix();
        mix();
        a_ ^= word;
    }

    /// Adds the last bytes, and returns the hash. Call it once.
    std::uint64_t finish(Bytes bytes) {
        constexpr std::size_t word_size = 8;
        const std::size_t size = bytes.size();
        Cursor cursor(bytes);
        while (const auto word = cursor.take<word_size>())
            add(le64<0>(*word));
        std::array<std::byte, word_size> last{};
        std::ranges::copy(cursor.rest(), last.begin());
        last.back() = static_cast<std::byte>(size);
        add(le64<0>(FixedBytes<word_size>(last)));
        c_ ^= 0xff;
        for (int i = 0; i < 4; ++i)
            mix();
        return a_ ^ b_ ^ c_ ^ d_;
    }

  private:
    void mix() {
        a_ += b_;
        c_ += d_;
        b_ = std::rotl(b_, 13) ^ a_;
        d_ = std::rotl(d_, 16) ^ c_;
        a_ = std::rotl(a_, 32);
        c_ += b_;
        a_ += d_;
        b_ = std::rotl(b_, 17) ^ c_;
        d_ = std::rotl(d_, 21) ^ a_;
        c_ = std::rotl(c_, 32);
    }

    std::uint64_t a_, b_, c_, d_;
};

}  // namespace util
