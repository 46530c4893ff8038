#include "filter/comparison.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace filter {
namespace {

template <typename Address>
bool is_in_network(const Address& address, const Address& network, unsigned prefix) {
    for (std::size_t i = 0; i < address.bytes.size() && prefix > 0; ++i) {
        const unsigned bits = std::min(prefix, 8U);
        const auto different = static_cast<unsigned>(address.bytes[i] ^ network.bytes[i]);
        if (different >> (8 - bits) != 0)
            return false;
        prefix -= bits;
    }
    return true;
}

unsigned digit(char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

// `digits` are hexadecimal, two per byte.
bool begins_with(util::Bytes bytes, std::string_view digits) {
    if (bytes.size() < digits.size() / 2)
        return false;
    for (std::size_t i = 0; i < digits.size() / 2; ++i)
        if (std::to_integer<unsigned>(bytes[i]) !=
            (digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1])))
            return false;
    return true;
}

bool contains(const Value& value, std::string_view part) {
    if (const auto* text = std::get_if<std::string_view>(&value))
        return text->find(part) != std::string_view::npos;
    const auto* octets = std::get_if<Octets>(&value);
    for (util::Bytes rest = octets != nullptr ? octets->bytes : util::Bytes(); !rest.empty();
         rest = rest.subspan(1))
        if (begins_with(rest, part))
            return true;
    return part.empty();
}

bool equals(const Value& value, const Range& range) {
    if (range.prefix) {
        if (const auto* v4 = std::get_if<wire::Ipv4Address>(&value)) {
            const auto* network = std::get_if<wire::Ipv4Address>(&range.low);
            return network != nullptr && is_in_network(*v4, *network, *range.prefix);
        }
        const auto* v6 = std::get_if<wire::Ipv6Address>(&value);
        const auto* network = std::get_if<wire::Ipv6Address>(&range.low);
        return v6 != nullptr && network != nullptr && is_in_network(*v6, *network, *range.prefix);
    }
    if (const auto* octets = std::get_if<Octets>(&value)) {
        const auto digits = std::get<std::string_view>(range.low);
        return octets->bytes.size() == digits.size() / 2 && begins_with(octets->bytes, digits);
    }
    return value == range.low;
}

bool is_inside(const Value& value, const Range& range, Kind kind) {
    if (range.prefix || range.low == range.high)
        return equals(value, range);
    const bool wraps = kind == Kind::Psn && range.high < range.low;
    return wraps ? value >= range.low || value <= range.high
                 : value >= range.low && value <= range.high;
}

}  // namespace

std::optional<Operator> operator_of(const Token& token) {
    struct Name {
        std::string_view symbol;
        std::string_view word;
        Operator op;
    };
    constexpr auto names = std::to_array<Name>({
        {"==", "eq", Operator::Equal},
        {"!=", "ne", Operator::NotEqual},
        {"<", "lt", Operator::Less},
        {"<=", "le", Operator::LessOrEqual},
        {">", "gt", Operator::Greater},
        {">=", "ge", Operator::GreaterOrEqual},
        {"in", "in", Operator::In},
        {"contains", "contains", Operator::Contains},
    });
    for (const Name& row : names)
        if (token.is(row.symbol) || token.is(row.word))
            return row.op;
    return std::nullopt;
}

bool allows(Kind kind, Operator op) {
    switch (op) {
        case Operator::There:
        case Operator::Equal:
        case Operator::NotEqual:
        case Operator::In:
            return true;
        case Operator::Contains:
            return kind == Kind::Text || kind == Kind::Bytes;
        default:
            return is_number(kind) || kind == Kind::Signed || kind == Kind::Time ||
                   kind == Kind::Real || kind == Kind::Mac || kind == Kind::Ipv4 ||
                   kind == Kind::Ipv6;
    }
}

bool Comparison::matches(const View& view) const {
    const Value value = field_->of(view);
    if (!is_there(value))
        return false;
    const auto compared = [&](auto holds) { return holds(value, constants_.front().low); };
    switch (op_) {
        case Operator::There:
            return true;
        case Operator::Equal:
            return equals(value, constants_.front());
        case Operator::NotEqual:
            return !equals(value, constants_.front());
        case Operator::Less:
            return compared(std::less());
        case Operator::LessOrEqual:
            return compared(std::less_equal());
        case Operator::Greater:
            return compared(std::greater());
        case Operator::GreaterOrEqual:
            return compared(std::greater_equal());
        case Operator::In:
            return std::ranges::any_of(constants_, [&](const Range& range) {
                return is_inside(value, range, field_->kind);
            });
        case Operator::Contains:
            return contains(value, std::get<std::string_view>(constants_.front().low));
    }
    return false;
}

}  // namespace filter
