// One event of a step's run log: a verbs call that changes state or moves data, or a note for the
// user.
//
// The same event is written twice: as a line for people (to_text) and as a JSON object on one line
// for programs (to_json). Times are CLOCK_REALTIME nanoseconds of the host that wrote the event.
// Lengths are bytes; addresses, keys, QPNs and PSNs are plain integers in host byte order.
// event_table.hpp has the events and their fields.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runlog/event_table.hpp"

namespace runlog {

/// An entry of a request's scatter/gather list, with ibv_sge's names.
struct Sge {
    std::uint64_t addr = 0;
    std::uint32_t length = 0;
    std::uint32_t lkey = 0;

    bool operator==(const Sge&) const = default;
};
using Sges = std::vector<Sge>;

using Value = std::variant<bool, std::int64_t, std::uint64_t, std::string, Sges>;

struct Field {
    template <typename T>
    Field(std::string_view name, T&& v) : key(name), value(make(std::forward<T>(v))) {}
    template <std::derived_from<Key> K, typename T>
    Field(const K& known, T&& v) : Field(known.name, std::forward<T>(v)) {
        static_assert(std::derived_from<K, TextKey> == std::convertible_to<T, std::string_view>,
                      "the value is of another type than the key");
    }

    std::string key;
    Value value;

    bool operator==(const Field&) const = default;

  private:
    template <typename T>
    static Value make(T&& v) {
        using Plain = std::remove_cvref_t<T>;
        if constexpr (std::is_same_v<Plain, Value> || std::is_same_v<Plain, bool> ||
                      std::is_same_v<Plain, Sges>)
            return Value(std::forward<T>(v));
        else if constexpr (std::is_unsigned_v<Plain>)
            return Value(std::uint64_t{v});
        else if constexpr (std::is_integral_v<Plain>)
            return Value(std::int64_t{v});
        else
            return Value(std::string(std::forward<T>(v)));
    }
};

using Fields = std::vector<Field>;

struct Event {
    std::int64_t t_ns = 0;
    std::string role;  // "server" or "client", or the name of a program; may be empty
    std::string name;  // "post_send", "wc", ...
    Fields fields;

    bool is(EventName known) const { return name == known.row().name; }
    bool is_one_of(std::initializer_list<EventName> known) const;

    /// nullptr: missing.
    const Value* find(std::string_view key) const;
    /// nullopt or an empty text: missing, or not of this type. A negative integer is not a number.
    std::optional<std::uint64_t> operator[](const NumberKey& key) const { return number(key.name); }
    std::optional<std::uint32_t> operator[](const Number32Key& key) const;
    std::optional<bool> operator[](const TruthKey& key) const;
    std::string_view operator[](const TextKey& key) const { return text(key.name); }
    /// What the log has instead of a PSN that it hides: "secret".
    std::string_view hidden(const Number32Key& psn) const { return text(psn.name); }
    /// The same for fields that are not in the table, as those of lessons.
    std::optional<std::uint64_t> number(std::string_view key) const;
    std::string_view text(std::string_view key) const;

    bool operator==(const Event&) const = default;
};

/// The event as one JSON object without a line feed:
/// {"t_ns":…,"role":…,"event":…, then the fields}.
std::string to_json(const Event& event);

/// The reverse of to_json(). nullopt if the line is not an event, for example an incomplete last
/// line.
std::optional<Event> from_json(std::string_view line);

/// The event as text, without time and role:
/// "post_send  wr 1 RDMA_WRITE 10000 B → va 0x… rkey 0x…  PSN 0x… to 0x…".
/// One line: the event's own text is escaped by util::printable().
std::string to_text(const Event& event);

/// What the text log appends to to_text(): the scatter/gather list of a post and its send flags,
/// "  from 0x7f…+10000 lkey 0x…  SIGNALED". Empty for most events. The fields are too long for the
/// lines of a listing.
std::string request_text(const Event& event);

/// How long the call took, if that is `least_ms` milliseconds or more: "  took 61 ms"; or
/// "  has not returned". Otherwise empty.
std::string duration_text(const Event& event, std::uint64_t least_ms = 10);

/// "03:19:41.647730": the time of day in UTC. `t_ns`: since 1970, not negative.
std::string time_of_day(std::int64_t t_ns);

}  // namespace runlog
