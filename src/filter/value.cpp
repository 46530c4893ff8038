#include "filter/value.hpp"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "util/append.hpp"
#include "util/names.hpp"

namespace filter {
namespace {

std::size_t digits(Kind kind) {
    switch (kind) {
        case Kind::Hex2:
            return 2;
        case Kind::Hex4:
            return 4;
        case Kind::Hex6:
            return 6;
        case Kind::Hex8:
            return 8;
        case Kind::Hex16:
            return 16;
        default:
            return 0;
    }
}

struct Append {
    std::string& out;
    Kind kind;

    void operator()(std::monostate) const {}
    void operator()(Null) const {}
    void operator()(std::uint64_t number) const {
        const std::size_t width = digits(kind);
        if (width == 0)
            return util::append_decimal(out, number);
        out.append("0x");
        util::append_hex(out, number, width);
    }
    void operator()(std::int64_t number) const {
        if (kind != Kind::Time)
            return util::append_decimal(out, number);
        std::array<char, longest_seconds> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        out.append(text.data(), put_seconds(text.data(), number));
    }
    void operator()(bool flag) const { out.push_back(flag ? '1' : '0'); }
    void operator()(double number) const { fmt::format_to(std::back_inserter(out), "{}", number); }
    void operator()(std::string_view text) const { out.append(text); }
    void operator()(const wire::MacAddress& address) const { wire::append(out, address); }
    void operator()(const wire::Ipv4Address& address) const { wire::append(out, address); }
    void operator()(const wire::Ipv6Address& address) const { wire::append(out, address); }
    void operator()(const Octets& octets) const {
        for (const std::byte byte : octets.bytes)
            util::append_hex(out, std::to_integer<unsigned>(byte), 2);
    }
};

}  // namespace

char* put_seconds(char* at, std::int64_t nanoseconds) {
    constexpr std::uint64_t second = 1'000'000'000;
    constexpr std::size_t places = 9;
    if (nanoseconds < 0)
        *at++ = '-';
    const auto distance = nanoseconds < 0
                              ? std::uint64_t{0} - static_cast<std::uint64_t>(nanoseconds)
                              : static_cast<std::uint64_t>(nanoseconds);
    at = util::put_decimal(at, distance / second);
    *at++ = '.';
    return util::put_digits(at, distance % second, places);
}

std::string_view name(Kind kind) {
    static constexpr auto names = std::to_array<util::Named<Kind>>({
        {Kind::Present, "header"},
        {Kind::Flag, "true or false"},
        {Kind::Psn, "PSN"},
        {Kind::Text, "text"},
        {Kind::Mac, "MAC address"},
        {Kind::Ipv4, "IPv4 address"},
        {Kind::Ipv6, "IPv6 address"},
        {Kind::Ip, "IP address"},
        {Kind::Bytes, "bytes"},
    });
    return util::name_in(names, kind, "number");
}

void append(std::string& out, const Value& value, Kind kind) {
    std::visit(Append{out, kind}, value);
}

}  // namespace filter
