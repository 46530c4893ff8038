// One comparison of a display filter: a field, an operator, and what it is compared with.
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

/// nullopt for a token that is no operator.
std::optional<Operator> operator_of(const Token& token);

/// What a field is compared with: a value, or two ends that both belong to it. Of Bytes the values
/// are hexadecimal digits.
struct Range {
    Value low;
    Value high;
    std::optional<unsigned> prefix{};  ///< 192.0.2.0/24: only so many bits of `low` count
};

/// What `token` stands for beside a field; text of the result is the token's own. Throws
/// SyntaxError where it is nothing for such a field.
Range parse_constant(const Field& field, const Token& token);

/// Throws SyntaxError, too, where the field has no order and where the second end is before the
/// first.
Range parse_range(const Field& field, const Token& low, const Token& high);

/// Whether a field of this kind can be compared by this operator.
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
