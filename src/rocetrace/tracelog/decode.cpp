#include "rocetrace/tracelog/decode.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "rocetrace/tracelog/data_record.hpp"
#include "rocetrace/tracelog/names.hpp"

namespace tracelog {
namespace {

using runlog::Event;
using runlog::Fields;

// Reads what EventWriter wrote, up to a length that exceeds the record.
class Cursor {
  public:
    explicit Cursor(std::span<const std::byte> bytes) : rest_(bytes) {}

    bool has_more() const { return !rest_.empty() && whole_; }
    bool is_whole() const { return whole_; }

    template <typename T>
    T take() {
        T value{};
        const auto bytes = take_bytes(sizeof value);
        if (bytes.size() == sizeof value)
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string take_short() { return text(take_bytes(take<std::uint8_t>())); }
    std::string take_text() { return text(take_bytes(take<std::uint16_t>())); }
    std::span<const std::byte> take_long() { return take_bytes(take<std::uint16_t>()); }
    std::span<const std::byte> take_bytes(std::size_t count) {
        if (count > rest_.size()) {
            whole_ = false;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }

  private:
    static std::string text(std::span<const std::byte> bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    std::span<const std::byte> rest_;
    bool whole_ = true;
};

runlog::Value enumerator(Type type, std::uint64_t number) {
    switch (type) {
        case Type::qp_state:
            return std::string(rdma::name_of(static_cast<ibv_qp_state>(number)));
        case Type::qp_type:
            return std::string(rdma::name_of(static_cast<ibv_qp_type>(number)));
        case Type::access:
            return rdma::access_names(static_cast<unsigned>(number));
        case Type::async_event:
            return std::string(rdma::name_of(static_cast<ibv_event_type>(number)));
        case Type::port_state:
            return std::string(rdma::name_of(static_cast<ibv_port_state>(number)));
        case Type::gid_type:
            // These values are the same in ibv_gid_type_sysfs and ibv_gid_type.
            return std::string(rdma::name_of(static_cast<ibv_gid_type>(number)));
        case Type::cm_event:
            return std::string(cm_event_name(static_cast<unsigned>(number)));
        case Type::send_flags:
            return std::string(send_flag_names(static_cast<std::uint32_t>(number)));
        case Type::opcode:
            return std::string(opcode_name(static_cast<std::uint32_t>(number)));
        case Type::error:
            return error_name(static_cast<int>(static_cast<std::int64_t>(number)));
        default:
            return number;
    }
}

std::string gid_text(std::span<const std::byte> gid) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (gid.size() != 16 || inet_ntop(AF_INET6, gid.data(), text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

runlog::Sges sges_of(std::span<const Sge> entries) {
    runlog::Sges sges;
    for (const Sge& entry : entries)
        sges.push_back({entry.addr, entry.length, entry.lkey});
    return sges;
}

runlog::Sges sges_in(std::span<const std::byte> bytes) {
    std::array<Sge, SgeList::most> entries{};
    const std::size_t count = std::min(bytes.size() / sizeof(Sge), entries.size());
    if (count != 0)
        std::memcpy(entries.data(), bytes.data(), count * sizeof(Sge));
    return sges_of(std::span(entries).first(count));
}

void take_field(Cursor& cursor, Fields& fields) {
    const std::string key = cursor.take_short();
    const auto type = cursor.take<Type>();
    switch (type) {
        case Type::text:
            fields.emplace_back(key, cursor.take_text());
            break;
        case Type::gid:
            fields.emplace_back(key, gid_text(cursor.take_bytes(16)));
            break;
        case Type::address:
            fields.emplace_back(key, address_text(cursor.take_long()));
            break;
        case Type::sges:
            fields.emplace_back(key, sges_in(cursor.take_long()));
            break;
        case Type::negative:
            fields.emplace_back(key, cursor.take<std::int64_t>());
            break;
        case Type::truth:
            fields.emplace_back(key, cursor.take<std::uint64_t>() != 0);
            break;
        default:
            fields.emplace_back(key, enumerator(type, cursor.take<std::uint64_t>()));
    }
}

std::optional<Event> decode_event(std::span<const std::byte> bytes) {
    const auto header = as<Header>(bytes);
    if (!header || header->flags > bytes.size() - sizeof(Header))
        return std::nullopt;
    Cursor cursor(bytes.subspan(sizeof(Header), bytes.size() - sizeof(Header) - header->flags));
    Event event;
    event.name = cursor.take_short();
    while (cursor.has_more())
        take_field(cursor, event.fields);
    if (!cursor.is_whole())
        return std::nullopt;
    return event;
}

}  // namespace

std::optional<Event> decode(std::span<const std::byte> record, const std::string& role,
                            const Writer& writer) {
    const auto header = as<Header>(record);
    if (!header)
        return std::nullopt;
    std::optional<Event> event;
    if (header->kind == Kind::event || header->kind == Kind::begun)
        event = decode_event(record);
    visit_data(record, [&](const auto& data, std::string_view name) {
        event = Event{0, {}, std::string(name), {}};
        each_field(data, [&](const Member& member, const auto& value) {
            if constexpr (std::is_convertible_v<decltype(value), std::span<const Sge>>)
                event->fields.emplace_back(member.key, sges_of(value));
            else
                event->fields.emplace_back(member.key, value);
        });
    });
    if (!event)
        return std::nullopt;
    event->t_ns = header->t_ns;
    event->role = role;
    event->fields.emplace_back(key::pid, writer.pid);
    event->fields.emplace_back(key::tid, writer.tid);
    return event;
}

}  // namespace tracelog
