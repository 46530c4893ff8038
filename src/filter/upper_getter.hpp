// Getters for fields of the layer above RDMA. A packet has these only if its connection's service
// is known.
#pragma once

#include <functional>
#include <string_view>

#include "filter/getter.hpp"
#include "upper/message.hpp"

namespace filter {

template <typename Kept>
const Kept* part(const View& view) {
    return view.upper != nullptr ? view.upper->as<Kept>() : nullptr;
}

/// Reads a chain of members of one kind of message.
template <typename Kept, auto... Members>
Value of(const View& view) {
    const Kept* message = part<Kept>(view);
    return message != nullptr ? follow(*message, Members...) : Value();
}

template <typename... Kept>
Value is(const View& view) {
    return (... || (part<Kept>(view) != nullptr)) ? Value(true) : Value();
}

/// Reads a member of any kind of message that has it.
template <auto... Members>
Value any(const View& view) {
    Value value;
    const auto take = [&](auto member) {
        using Owner = decltype(message_of(member));
        if (const Owner* message = part<Owner>(view))
            value = to_value(std::invoke(member, *message));
        return is_there(value);
    };
    static_cast<void>((take(Members) || ...));
    return value;
}

// Null if there is no name.
template <typename Kept, auto Member>
Value name_of(const View& view) {
    const Kept* message = part<Kept>(view);
    if (message == nullptr)
        return {};
    const std::string_view name = std::invoke(Member, *message);
    return name.empty() ? Value(Null()) : Value(name);
}

// All fields of these tables need the connection's service.
inline constexpr FieldExtra connection{.needs_connection = true};
constexpr FieldExtra named(std::string_view wireshark) {
    return {.needs_connection = true, .wireshark = wireshark};
}

}  // namespace filter
