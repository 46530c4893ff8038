// Getters of fields of the layer above RDMA. A packet has these only where its connection's service is
// known.
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

/// A chain of members of one kind of message.
template <typename Kept, auto... Members>
Value of(const View& view) {
    const Kept* message = part<Kept>(view);
    return message != nullptr ? follow(*message, Members...) : Value();
}

template <typename... Kept>
Value is(const View& view) {
    return (... || (part<Kept>(view) != nullptr)) ? Value(true) : Value();
}

/// The same of whichever kind has the member.
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

// Null where there is no name.
template <typename Kept, auto Member>
Value name_of(const View& view) {
    const Kept* message = part<Kept>(view);
    if (message == nullptr)
        return {};
    const std::string_view name = std::invoke(Member, *message);
    return name.empty() ? Value(Null()) : Value(name);
}

// Every field of these tables needs the connection's service.
inline constexpr FieldExtra connection{.needs_connection = true};
constexpr FieldExtra named(std::string_view wireshark) {
    return {.needs_connection = true, .wireshark = wireshark};
}

}  // namespace filter
