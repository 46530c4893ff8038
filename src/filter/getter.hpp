// Turns a pointer to a member into a function that reads its value, so that rows of the field table
// only name the member.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "filter/field.hpp"

namespace filter {

inline Value to_value(bool flag) {
    return flag;
}
template <std::unsigned_integral Number>
requires(!std::same_as<Number, bool>) Value to_value(Number number) {
    return std::uint64_t{number};
}
inline Value to_value(wire::Psn psn) {
    return std::uint64_t{psn.value()};
}
inline Value to_value(double number) {
    return number;
}
inline Value to_value(std::string_view text) {
    return text;
}
inline Value to_value(util::Bytes bytes) {
    return Octets{bytes};
}
template <std::size_t N, typename Tag>
Value to_value(const wire::AddressBytes<N, Tag>& address) {
    return address;
}
template <typename T>
Value to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : Value();
}

/// Returns the value of a chain of members, starting at `object`; true if there is no member. A
/// member may be data or a const function without arguments. An empty optional ends the chain.
template <typename Object>
Value follow(const Object&) {
    return true;
}
template <typename Object, typename Member, typename... More>
Value follow(const Object& object, Member member, More... more) {
    const auto& next = std::invoke(member, object);
    if constexpr (sizeof...(more) == 0)
        return to_value(next);
    else if constexpr (requires { next.has_value(); })
        return next ? follow(*next, more...) : Value();
    else
        return follow(next, more...);
}

template <auto Header, auto Member, auto... More>
constexpr wire::Place place_in() {
    using Object = decltype(wire::object_of(Member));
    if constexpr (requires { typename Object::Fields; })
        return wire::place_of<Member>;
    return {};
}

/// Reads a member of a packet's header: in<&Packet::bth, &Bth::psn>.
template <auto... Members>
inline constexpr Getter in{[](const View& view) { return follow(view.packet, Members...); },
                           place_in<Members...>()};

/// Returns `value`, or null if it is not there.
inline Value or_null(const Value& value) {
    return is_there(value) ? value : Null();
}

/// Whether the packet has this header.
template <auto Header>
Value has(const View& view) {
    return (view.packet.*Header).has_value() ? Value(true) : Value();
}

/// Reads the first of the members whose message `as` returns: as.operator()<Message>().
template <auto... Members, typename As>
Value first_of(As as) {
    Value value;
    const auto take = [&](auto member) {
        if (const auto* message = as.template operator()<decltype(wire::object_of(member))>())
            value = to_value(std::invoke(member, *message));
        return is_there(value);
    };
    static_cast<void>((take(Members) || ...));
    return value;
}

/// The connection manager's message of this type; nullptr if the packet has none.
template <typename Message>
const Message* cm_message(const View& view) {
    return view.packet.cm ? view.packet.cm->as<Message>() : nullptr;
}

/// Reads a member of the connection manager's message from the first message type that matches:
/// cm<&CmReq::local_qpn, &CmRep::local_qpn>.
template <auto... Members>
Value cm(const View& view) {
    return first_of<Members...>([&]<typename Message>() { return cm_message<Message>(view); });
}

/// Wireshark's name of a field, if it has another one.
constexpr FieldExtra in_wireshark(std::string_view name) {
    return {.wireshark = name};
}

}  // namespace filter
