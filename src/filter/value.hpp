// What a packet has in one of its fields.
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

/// Bytes that compare like text.
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

/// The packet does not have the field where its JSON says so: null.
struct Null {
    friend bool operator==(Null, Null) = default;
    friend auto operator<=>(Null, Null) = default;
};

/// monostate: the packet does not have the field, and its JSON leaves it out. Text and bytes point
/// into the packet, its View, or static text.
using Value =
    std::variant<std::monostate, Null, std::uint64_t, std::int64_t, bool, double, std::string_view,
                 wire::MacAddress, wire::Ipv4Address, wire::Ipv6Address, Octets>;

constexpr bool is_there(const Value& value) {
    return value.index() > 1;
}

/// What a field is, and with that how it is written and what it can be compared with. Numbers are
/// written as Wireshark writes them.
enum class Kind : std::uint8_t {
    Present,  ///< a header: true where the packet has it
    Flag,
    Decimal,
    Hex2,  ///< numbers in hexadecimal, with so many digits at least
    Hex4,
    Hex6,
    Hex8,
    Hex16,
    Psn,  ///< 24 bits on a circle: a range may pass zero
    Signed,
    Time,  ///< nanoseconds since 1970, written in seconds
    Real,
    Text,
    Mac,
    Ipv4,
    Ipv6,  ///< also a GID
    Ip,    ///< one or the other
    Bytes,
};

constexpr bool is_number(Kind kind) {
    return kind >= Kind::Decimal && kind <= Kind::Psn;
}

/// Seconds with nine digits behind the point, as tshark writes times, at `at`, where
/// longest_seconds characters have room. Returns the end.
char* put_seconds(char* at, std::int64_t nanoseconds);
inline constexpr std::size_t longest_seconds = 21;

/// "number", "address", ...: what a person would compare the field with.
std::string_view name(Kind kind);

/// Behind `out`, nothing for a field that is not there: flags as 1 and 0, numbers in decimal or
/// hexadecimal as `kind` has it, bytes as hexadecimal digits.
void append(std::string& out, const Value& value, Kind kind);

}  // namespace filter
