// The places of a header's fields: one list beside the members, from which they are read and
// written, and which says where a field's bits are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "util/cursor.hpp"
#include "wire/psn.hpp"
#include "wire/trail.hpp"

namespace wire {

/// The bits of a field. Bit 0 is the most significant bit of the header's first byte.
struct Place {
    Header header{};
    std::uint16_t bit = 0;
    std::uint16_t width = 0;  ///< 0: not a field of one place

    /// The largest number that fits; `width` is at most 64.
    constexpr std::uint64_t most() const { return ~std::uint64_t{0} >> (64U - width); }
};

namespace detail {

template <unsigned Bit, unsigned Width>
struct Word {
    static constexpr std::size_t first = Bit / 8;
    static constexpr std::size_t size = (Bit + Width + 7) / 8 - first;
    static constexpr std::size_t shift = (first + size) * 8 - Bit - Width;
    static constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - Width);
};

}  // namespace detail

/// The number of `Width` bits from `Bit` on.
template <unsigned Bit, unsigned Width, std::size_t N>
constexpr std::uint64_t number_at(util::FixedBytes<N> bytes) {
    using Word = detail::Word<Bit, Width>;
    return util::read_be<std::uint64_t, Word::size, Word::first>(bytes) >> Word::shift & Word::mask;
}

/// Leaves the bits beside it as they are.
template <unsigned Bit, unsigned Width, std::size_t N>
constexpr void put_number_at(std::span<std::byte, N> out, std::uint64_t value) {
    using Word = detail::Word<Bit, Width>;
    const auto old =
        util::read_be<std::uint64_t, Word::size, Word::first>(util::FixedBytes<N>(out));
    util::write_be<Word::size, Word::first>(
        out, (old & ~(Word::mask << Word::shift)) | (value & Word::mask) << Word::shift);
}

/// A field of a header as in Place, and the member that has its value. `Unit`: the member is a
/// number of bytes, and the field counts units of so many bytes. A member function stands for a
/// part of another field.
template <auto Member, unsigned Bit, unsigned Width, unsigned Unit = 1>
class At {
  public:
    static constexpr unsigned bit = Bit;
    static constexpr unsigned width = Width;

    template <auto Other>
    static constexpr bool is() {
        return std::is_same_v<Constant<Member>, Constant<Other>>;
    }

    template <typename T, std::size_t N>
    static constexpr void read(T& header, util::FixedBytes<N> bytes) {
        if constexpr (is_stored)
            take(header.*Member, bytes);
    }
    template <typename T, std::size_t N>
    static constexpr void write(const T& header, std::span<std::byte, N> out) {
        if constexpr (is_stored)
            put(header.*Member, out);
    }

  private:
    template <auto Value>
    struct Constant {};

    static constexpr bool is_stored = !std::is_member_function_pointer_v<decltype(Member)>;
    static constexpr std::size_t first = Bit / 8;
    static constexpr std::size_t size = Width / 8;

    template <typename T, std::size_t N>
    static constexpr void take(T& member, util::FixedBytes<N> bytes) {
        if constexpr (std::is_same_v<T, util::Bytes>)
            member = bytes.template subspan<first, size>();
        else if constexpr (requires { T::template at<first>(bytes); })
            member = T::template at<first>(bytes);
        else if constexpr (requires { member.begin(); })
            std::ranges::copy(bytes.template subspan<first, size>(), member.begin());
        else if constexpr (std::is_same_v<T, Psn>)
            member = Psn(static_cast<std::uint32_t>(number_at<Bit, Width>(bytes)));
        else
            member = static_cast<T>(number_at<Bit, Width>(bytes) * Unit);
    }
    template <typename T, std::size_t N>
    static constexpr void put(const T& member, std::span<std::byte, N> out) {
        if constexpr (requires { member.template put<first>(out); })
            member.template put<first>(out);
        else if constexpr (requires { member.begin(); })
            std::ranges::copy(member, out.template subspan<first, size>().begin());
        else if constexpr (std::is_same_v<T, Psn>)
            put_number_at<Bit, Width>(out, member.value());
        else
            put_number_at<Bit, Width>(out, member / Unit);
    }
};

/// A header's fields, each an At. Bits without a field are reserved.
template <Header Of, typename... Fields>
struct Layout {
    static constexpr Header header = Of;

    template <typename T, std::size_t N>
    static constexpr void read(T& header, util::FixedBytes<N> bytes) {
        (Fields::read(header, bytes), ...);
    }
    template <typename T, std::size_t N>
    static constexpr void write(const T& header, std::span<std::byte, N> out) {
        (Fields::write(header, out), ...);
    }
    template <auto Member>
    static constexpr Place place() {
        Place place;
        ((Fields::template is<Member>()
              ? static_cast<void>(place = {Of, Fields::bit, Fields::width})
              : static_cast<void>(0)),
         ...);
        return place;
    }
};

template <typename T>
constexpr T parse(util::FixedBytes<T::size> bytes) {
    T header;
    T::Fields::read(header, bytes);
    return header;
}

/// Reserved bits become 0.
template <typename T>
constexpr void write(const T& header, std::span<std::byte, T::size> out) {
    std::ranges::fill(out, std::byte{});
    T::Fields::write(header, out);
}

template <typename Object, typename Member>
Object object_of(Member Object::*);

/// Where the member's field is: place_of<&Ipv4::src>.
template <auto Member>
inline constexpr Place place_of = decltype(object_of(Member))::Fields::template place<Member>();

}  // namespace wire
