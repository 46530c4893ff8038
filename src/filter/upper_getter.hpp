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

/// Reads a chain of members, of which the first is one of the message.
template <auto Member, auto... More>
Value of(const View& view) {
    const auto* message = part<decltype(wire::object_of(Member))>(view);
    return message != nullptr ? follow(*message, Member, More...) : Value();
}

template <typename... Kept>
Value is(const View& view) {
    return (... || (part<Kept>(view) != nullptr)) ? Value(true) : Value();
}

/// Reads a member of any kind of message that has it.
template <auto... Members>
Value any(const View& view) {
    return first_of<Members...>([&]<typename Message>() { return part<Message>(view); });
}

// Null if there is no name.
template <auto Member>
Value name_of(const View& view) {
    const auto* message = part<decltype(wire::object_of(Member))>(view);
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
