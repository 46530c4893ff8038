// Constants in the comparisons of a display filter.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filter/comparison.hpp"
#include "filter/where.hpp"
#include "util/number.hpp"
#include "wire/opcode.hpp"

namespace filter {
namespace {

[[noreturn]] void refuse_value(const Field& field, const Token& token) {
    const auto wanted = [&]() -> std::string {
        switch (field.kind) {
            case Kind::Present:
            case Kind::Flag:
                return "neither true nor false";
            case Kind::Bytes:
                return "not a sequence of pairs of hexadecimal digits";
            default:
                return fmt::format("not {} {}", name(field.kind).starts_with('I') ? "an" : "a",
                                   name(field.kind));
        }
    };
    refuse(token, fmt::format("'{}' is {}: {} cannot be compared with it", token.text, wanted(),
                              field.name));
}

std::optional<std::uint64_t> unsigned_of(std::string_view text) {
    return text.starts_with("0X") ? util::number_of<std::uint64_t>(text.substr(2), 16)
                                  : util::prefixed_number_of<std::uint64_t>(text);
}

// Parses seconds with up to nine decimal places; a double would lose the last ones.
std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
    constexpr std::size_t places = 9;
    constexpr std::int64_t second = 1'000'000'000;
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    const auto point = text.find('.');
    const auto seconds = util::number_of<std::uint32_t>(text.substr(0, point));
    std::string digits(point == std::string_view::npos ? "0" : text.substr(point + 1));
    if (!seconds || digits.empty() || digits.size() > places)
        return std::nullopt;
    digits.resize(places, '0');
    const auto fraction = util::number_of<std::uint32_t>(digits);
    if (!fraction)
        return std::nullopt;
    const std::int64_t distance = *seconds * second + *fraction;
    return is_negative ? -distance : distance;
}

template <typename Address>
std::optional<Address> ip_of(int family, std::string_view text) {
    Address address;
    const std::string terminated(text);
    if (text.find('\0') != std::string_view::npos)  // inet_pton() would stop there
        return std::nullopt;
    return inet_pton(family, terminated.c_str(), address.bytes.data()) == 1 ? std::optional(address)
                                                                            : std::nullopt;
}

std::optional<wire::MacAddress> mac_of(std::string_view text) {
    wire::MacAddress address;
    constexpr std::size_t part = 3;  // two digits and a colon
    if (text.size() != part * address.bytes.size() - 1)
        return std::nullopt;
    for (std::size_t i = 0; i < address.bytes.size(); ++i) {
        const auto byte = util::number_of<std::uint8_t>(text.substr(part * i, 2), 16);
        if (!byte || (i != 0 && text[part * i - 1] != ':'))
            return std::nullopt;
        address.bytes[i] = *byte;
    }
    return address;
}

template <typename Address>
std::optional<Range> network_of(int family, std::string_view text) {
    const auto slash = text.find('/');
    const auto address = ip_of<Address>(family, text.substr(0, slash));
    if (!address)
        return std::nullopt;
    Range range{*address, *address};
    if (slash == std::string_view::npos)
        return range;
    const auto bits = util::number_of<unsigned>(text.substr(slash + 1));
    if (!bits || *bits > 8 * Address::size)
        return std::nullopt;
    range.prefix = bits;
    return range;
}

Range address_of(const Field& field, const Token& token) {
    std::optional<Range> range;
    if (field.kind == Kind::Ipv4 || field.kind == Kind::Ip)
        range = network_of<wire::Ipv4Address>(AF_INET, token.text);
    if (!range && (field.kind == Kind::Ipv6 || field.kind == Kind::Ip))
        range = network_of<wire::Ipv6Address>(AF_INET6, token.text);
    if (!range)
        refuse_value(field, token);
    return *range;
}

// Checks words of fields with a fixed set of them: a misspelled word would never match.
void check_word(const Field& field, const Token& token) {
    struct Set {
        std::string_view field;
        std::vector<std::string_view> words;
    };
    static const std::array<Set, 3> sets{{
        {"icrc.status", {"good", "bad", "unchecked"}},
        {"bth.transport", {"RC", "UC", "RD", "UD", "CNP", "XRC", "DC"}},
        {"aeth.type", {"ACK", "RNR NAK", "NAK", "reserved"}},
    }};
    for (const auto& [name, words] : sets)
        if (name == field.name && std::ranges::find(words, token.text) == words.end())
            refuse(token, fmt::format("{} is one of {}, not '{}'", name, fmt::join(words, ", "),
                                      token.text));
    const auto is_called_so = [&](const auto& row) { return row.name == token.text; };
    if (field.name == "bth.opcode_name" && std::ranges::none_of(wire::opcodes(), is_called_so) &&
        std::ranges::none_of(wire::dc_opcodes(), is_called_so))
        refuse(token, fmt::format("there is no opcode '{}'", token.text));
}

bool is_hex_text(std::string_view text) {
    return text.size() % 2 == 0 &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

Range one(Value value) {
    return {value, value};
}

}  // namespace

Range parse_constant(const Field& field, const Token& token) {
    const auto no_value = [&]() -> Range { refuse_value(field, token); };
    switch (field.kind) {
        case Kind::Present:
        case Kind::Flag:
            if (token.text == "true" || token.text == "1")
                return one(true);
            return token.text == "false" || token.text == "0" ? one(false) : no_value();
        case Kind::Text:
            check_word(field, token);
            return one(token.text);
        case Kind::Bytes:
            return is_hex_text(token.text) ? one(token.text) : no_value();
        case Kind::Mac: {
            const auto address = mac_of(token.text);
            return address ? one(*address) : no_value();
        }
        case Kind::Ipv4:
        case Kind::Ipv6:
        case Kind::Ip:
            return address_of(field, token);
        case Kind::Real: {
            // from_chars() also accepts "nan" and "inf", which no field has.
            const auto number = util::number_of<double>(token.text);
            return number && std::isfinite(*number) ? one(*number) : no_value();
        }
        case Kind::Time: {
            const auto time = nanoseconds_of(token.text);
            return time ? one(*time) : no_value();
        }
        case Kind::Signed: {
            const auto number = util::number_of<std::int64_t>(token.text);
            return number ? one(*number) : no_value();
        }
        default:
            break;
    }
    const auto number = unsigned_of(token.text);
    if (!number)
        return no_value();
    if (field.kind == Kind::Psn && *number > wire::Psn::mask)
        refuse(token, fmt::format("'{}' is not a valid PSN: a PSN has 24 bits, up to 0xffffff",
                                  token.text));
    return one(*number);
}

Range parse_range(const Field& field, const Token& low, const Token& high) {
    if (!allows(field.kind, Operator::Less))
        refuse(low,
               fmt::format("{} has no order, so it cannot be compared with a range", field.name));
    Range range = parse_constant(field, low);
    const Range end = parse_constant(field, high);
    if (range.prefix || end.prefix)
        refuse(low, "a range goes from one address to another of the same kind");
    if (field.kind != Kind::Psn && end.low < range.low)
        refuse(low,
               fmt::format("the range's end {} is before its beginning {}", high.text, low.text));
    range.high = end.low;
    return range;
}

}  // namespace filter
