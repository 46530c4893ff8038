#include "runlog/event.hpp"

#include <algorithm>

namespace runlog {
namespace {

const Value* find(const Fields& fields, std::string_view key) {
    const auto it = std::ranges::find(fields, key, &Field::key);
    return it == fields.end() ? nullptr : &it->value;
}

}  // namespace

std::optional<std::uint64_t> Event::number(std::string_view key) const {
    const Value* value = find(fields, key);
    if (value == nullptr)
        return std::nullopt;
    if (const auto* plain = std::get_if<std::uint64_t>(value))
        return *plain;
    if (const auto* plain = std::get_if<std::int64_t>(value); plain != nullptr && *plain >= 0)
        return static_cast<std::uint64_t>(*plain);
    return std::nullopt;
}

std::optional<std::uint32_t> Event::number32(std::string_view key) const {
    const auto value = number(key);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::string_view Event::text(std::string_view key) const {
    const Value* value = find(fields, key);
    const auto* plain = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return plain == nullptr ? std::string_view{} : std::string_view{*plain};
}

}  // namespace runlog
