// Values of a packet's fields.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "util/cursor.hpp"
#include "wire/address.hpp"

namespace filter {

/// Bytes that compare as text does.
struct Octets {
    util::Bytes bytes;

    friend bool operator==(const Octets& a, const Octets& b) {
        return std::ranges::equal(a.bytes, b.bytes);
    }
    friend auto operator<=>(const Octets& a, const Octets& b) {
        return std::lexicographical_compare_three_way(a.bytes.begin(), a.bytes.end(),
                                                      b.bytes.begin(), b.bytes.end());
    }
};

/// The packet does not have the field, and its JSON has null.
struct Null {
    friend bool operator==(Null, Null) = default;
    friend auto operator<=>(Null, Null) = default;
};

/// monostate: the packet does not have the field, and its JSON omits it. Text and bytes point into
/// the packet, its View, or static text.
using Value =
    std::variant<std::monostate, Null, std::uint64_t, std::int64_t, bool, double, std::string_view,
                 wire::MacAddress, wire::Ipv4Address, wire::Ipv6Address, Octets>;

constexpr bool is_there(const Value& value) {
    return value.index() > 1;
}

/// The kind of a field, which determines its format and its comparisons. Numbers are formatted as
/// in Wireshark.
enum class Kind : std::uint8_t {
    Present,  ///< a header: true if the packet has it
    Flag,
    Decimal,
    Hex2,  ///< hexadecimal, with at least this many digits
    Hex4,
    Hex6,
    Hex8,
    Hex16,
    Psn,  ///< 24 bits that wrap: a range may include zero
    Signed,
    Time,  ///< nanoseconds since 1970, written in seconds
    Real,
    Text,
    Mac,
    Ipv4,
    Ipv6,  ///< also a GID
    Ip,    ///< IPv4 or IPv6
    Bytes,
};

constexpr bool is_number(Kind kind) {
    return kind >= Kind::Decimal && kind <= Kind::Psn;
}

/// Writes seconds with nine decimal places, as tshark does, to `at`, which needs room for
/// longest_seconds characters. Returns the end.
char* put_seconds(char* at, std::int64_t nanoseconds);
inline constexpr std::size_t longest_seconds = 21;

/// Name of a constant of this kind: "number", "address", ...
std::string_view name(Kind kind);

/// Appends the value to `out`, or nothing if there is none: flags as 1 and 0, numbers in decimal or
/// hexadecimal according to `kind`, bytes as hexadecimal digits.
void append(std::string& out, const Value& value, Kind kind);

}  // namespace filter
