// One comparison of a display filter: a field, an operator and constants.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "filter/field.hpp"
#include "filter/lexer.hpp"

namespace filter {

enum class Operator : std::uint8_t {
    There,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
};

/// Returns nullopt if the token is not an operator.
std::optional<Operator> operator_of(const Token& token);

/// A value, or the two ends of a range, inclusive. For Bytes, the values are hexadecimal digits.
struct Range {
    Value low;
    Value high;
    std::optional<unsigned> prefix{};  ///< 192.0.2.0/24: number of bits of `low` to compare
};

/// Parses `token` as a constant for `field`; text in the result points to the token. Throws
/// SyntaxError if it is not valid for this field.
Range parse_constant(const Field& field, const Token& token);

/// Throws SyntaxError also if the field has no order, or if the second end is less than the first.
Range parse_range(const Field& field, const Token& low, const Token& high);

/// Whether this operator can compare a field of this kind.
bool allows(Kind kind, Operator op);

class Comparison {
  public:
    /// `constants`: none for There, any number for In, otherwise one.
    Comparison(const Field& field, Operator op, std::vector<Range> constants)
        : field_(&field), op_(op), constants_(std::move(constants)) {}

    bool matches(const View& view) const;
    const Field& field() const { return *field_; }

  private:
    const Field* field_;
    Operator op_;
    std::vector<Range> constants_;
};

}  // namespace filter
