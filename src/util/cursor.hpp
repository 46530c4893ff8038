// Bounds-checked reading of bytes in network order, and of NVMe's little-endian bytes.
//
// Only Cursor checks a length. It returns spans of fixed extent, and the readers below check their
// offsets against the extent at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace util {

using Bytes = std::span<const std::byte>;
template <std::size_t N>
using FixedBytes = std::span<const std::byte, N>;

/// N bytes or nothing: std::optional<FixedBytes<N>> in one register. An optional goes through
/// memory, written as a pointer and a flag and read back as one, which costs more than parsing the
/// header.
template <std::size_t N>
class MaybeBytes {
  public:
    constexpr MaybeBytes() = default;
    constexpr MaybeBytes(FixedBytes<N> bytes) : data_(bytes.data()) {}

    constexpr explicit operator bool() const { return data_ != nullptr; }
    constexpr FixedBytes<N> operator*() const { return FixedBytes<N>(data_, N); }

  private:
    const std::byte* data_ = nullptr;
};

class Cursor {
  public:
    constexpr explicit Cursor(Bytes bytes) : bytes_(bytes) {}

    /// Returns the next N bytes, or nothing, and then does not move.
    template <std::size_t N>
    constexpr MaybeBytes<N> take() {
        static_assert(N > 0);
        if (remaining() < N)
            return {};
        const FixedBytes<N> taken = rest().template first<N>();
        at_ += N;
        return taken;
    }

    constexpr std::optional<Bytes> take(std::size_t count) {
        if (remaining() < count)
            return std::nullopt;
        const Bytes taken = rest().first(count);
        at_ += count;
        return taken;
    }

    /// Moves the end of the bytes: at most `count` remain.
    constexpr void limit(std::size_t count) {
        if (count < remaining())
            bytes_ = bytes_.first(at_ + count);
    }

    /// Number of bytes taken.
    constexpr std::size_t at() const { return at_; }
    constexpr Bytes taken() const { return bytes_.first(at_); }
    constexpr Bytes rest() const { return bytes_.subspan(at_); }
    constexpr std::size_t remaining() const { return bytes_.size() - at_; }

  private:
    Bytes bytes_;
    std::size_t at_ = 0;
};

namespace detail {

/// Written as one expression, which g++ and clang compile to a load and a byte swap.
template <typename T, std::size_t Offset, std::size_t N, std::size_t... I>
constexpr T load(FixedBytes<N> bytes, std::index_sequence<I...>) {
    return static_cast<T>((
        ... | (std::to_integer<std::uint64_t>(bytes[Offset + I]) << (8 * (sizeof...(I) - 1 - I)))));
}

template <typename T, std::size_t Offset, std::size_t N, std::size_t... I>
constexpr T load_le(FixedBytes<N> bytes, std::index_sequence<I...>) {
    return static_cast<T>((... | (std::to_integer<std::uint64_t>(bytes[Offset + I]) << (8 * I))));
}

template <std::size_t Offset, std::size_t N, std::size_t... I>
constexpr void store(std::span<std::byte, N> bytes, std::uint64_t value,
                     std::index_sequence<I...>) {
    (..., (bytes[Offset + I] = static_cast<std::byte>(value >> (8 * (sizeof...(I) - 1 - I)))));
}

}  // namespace detail

/// The big-endian integer of Width bytes at Offset.
template <typename T, std::size_t Width, std::size_t Offset, std::size_t N>
constexpr T read_be(FixedBytes<N> bytes) {
    static_assert(Width <= sizeof(T) && Offset + Width <= N,
                  "the field extends past the end of the header");
    return detail::load<T, Offset>(bytes, std::make_index_sequence<Width>{});
}

template <std::size_t Offset, std::size_t N>
constexpr std::uint8_t be8(FixedBytes<N> bytes) {
    return read_be<std::uint8_t, 1, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint16_t be16(FixedBytes<N> bytes) {
    return read_be<std::uint16_t, 2, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint32_t be24(FixedBytes<N> bytes) {
    return read_be<std::uint32_t, 3, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint32_t be32(FixedBytes<N> bytes) {
    return read_be<std::uint32_t, 4, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint64_t be64(FixedBytes<N> bytes) {
    return read_be<std::uint64_t, 8, Offset>(bytes);
}

/// The little-endian integer of Width bytes at Offset.
template <typename T, std::size_t Width, std::size_t Offset, std::size_t N>
constexpr T read_le(FixedBytes<N> bytes) {
    static_assert(Width <= sizeof(T) && Offset + Width <= N,
                  "the field extends past the end of the header");
    return detail::load_le<T, Offset>(bytes, std::make_index_sequence<Width>{});
}

template <std::size_t Offset, std::size_t N>
constexpr std::uint16_t le16(FixedBytes<N> bytes) {
    return read_le<std::uint16_t, 2, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint32_t le24(FixedBytes<N> bytes) {
    return read_le<std::uint32_t, 3, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint32_t le32(FixedBytes<N> bytes) {
    return read_le<std::uint32_t, 4, Offset>(bytes);
}
template <std::size_t Offset, std::size_t N>
constexpr std::uint64_t le64(FixedBytes<N> bytes) {
    return read_le<std::uint64_t, 8, Offset>(bytes);
}

/// Writes the lowest Width bytes of value at Offset, big-endian.
template <std::size_t Width, std::size_t Offset, std::size_t N>
constexpr void write_be(std::span<std::byte, N> bytes, std::uint64_t value) {
    static_assert(Width <= 8 && Offset + Width <= N,
                  "the field extends past the end of the header");
    detail::store<Offset>(bytes, value, std::make_index_sequence<Width>{});
}

template <std::size_t Offset, std::size_t N>
constexpr void put_be8(std::span<std::byte, N> bytes, std::uint8_t value) {
    write_be<1, Offset>(bytes, value);
}
template <std::size_t Offset, std::size_t N>
constexpr void put_be16(std::span<std::byte, N> bytes, std::uint16_t value) {
    write_be<2, Offset>(bytes, value);
}
template <std::size_t Offset, std::size_t N>
constexpr void put_be24(std::span<std::byte, N> bytes, std::uint32_t value) {
    write_be<3, Offset>(bytes, value);
}
template <std::size_t Offset, std::size_t N>
constexpr void put_be32(std::span<std::byte, N> bytes, std::uint32_t value) {
    write_be<4, Offset>(bytes, value);
}
template <std::size_t Offset, std::size_t N>
constexpr void put_be64(std::span<std::byte, N> bytes, std::uint64_t value) {
    write_be<8, Offset>(bytes, value);
}

/// Returns `Bits` bits of a value, above the lowest `Shift` bits.
template <unsigned Shift, unsigned Bits>
constexpr std::uint8_t bits(unsigned value) {
    static_assert(Bits <= 8);
    return static_cast<std::uint8_t>(value >> Shift & ((1U << Bits) - 1U));
}

}  // namespace util
