// Whether an event is as the table of events says.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "runlog/event.hpp"

namespace support {

inline bool has_type(const runlog::Value& value, runlog::Type type) {
    using runlog::Type;
    switch (type) {
        case Type::number:
        case Type::negative:
            return std::holds_alternative<std::uint64_t>(value) ||
                   std::holds_alternative<std::int64_t>(value) ||
                   value == runlog::Value(std::string("secret"));
        case Type::truth:
            return std::holds_alternative<bool>(value);
        case Type::sges:
            return std::holds_alternative<runlog::Sges>(value);
        default:
            return std::holds_alternative<std::string>(value);
    }
}

inline bool fits(const runlog::Field& field, const runlog::KeyList& keys) {
    return std::ranges::any_of(keys.all(), [&](const runlog::Key* key) {
        return key->name == field.key && has_type(field.value, key->type);
    });
}

/// The event's first field that its row does not have, or not with this type; empty: none.
/// An event that is not in the table fits. A failed call has the fields of any event.
inline std::string misfit(const runlog::Event& event) {
    using namespace runlog::key;
    static const runlog::KeyList of_every_event(pid, tid, took_us, waited_us);
    const runlog::EventRow* row = runlog::row_of(event.name);
    if (row == nullptr || row->text.empty())
        return {};
    const bool has_any = event.is_one_of({"failed", "begun"});
    for (const runlog::Field& field : event.fields)
        if (!fits(field, of_every_event) && !fits(field, row->keys) &&
            !(has_any && std::ranges::any_of(runlog::event_rows, [&](const auto& other) {
                  return fits(field, other.keys);
              })))
            return event.name + " has not: " + field.key;
    return {};
}

}  // namespace support
