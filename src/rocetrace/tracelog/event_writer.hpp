// An event with named fields, as bytes: built on the stack, without allocation.
//
// Layout: length and bytes of the name; then for each field length and bytes of its key, the type
// of its value, and the value (runlog::Type).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <type_traits>

#include <infiniband/verbs.h>

#include "rocetrace/tracelog/record.hpp"

namespace tracelog {

/// Fields that do not fit are left out.
class EventBytes {
  public:
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): bytes_ is filled as fields come
    EventBytes(Category category, std::string_view name) : category_(category) { put_short(name); }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as above
    EventBytes(const EventBytes& other) : category_(other.category_) {
        put_raw(other.data(), other.size());
    }
    EventBytes& operator=(const EventBytes&) = delete;
    // It has no memory of its own that a move could take over.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as above
    EventBytes(EventBytes&& other) noexcept : category_(other.category_) {
        put_raw(other.data(), other.size());
    }
    EventBytes& operator=(EventBytes&&) = delete;
    ~EventBytes() = default;

    /// A value of 8 bytes.
    void put(const runlog::Key& key, std::uint64_t value) {
        if (room_for(key, sizeof value)) {
            put_key(key);
            put_raw(&value, sizeof value);
        }
    }
    void put_gid(const runlog::Key& key, const void* gid) {
        if (room_for(key, sizeof(ibv_gid))) {
            put_key(key);
            put_raw(gid, sizeof(ibv_gid));
        }
    }
    /// A text, an address or a list, truncated to 512 bytes.
    void put_bytes(const runlog::Key& key, const void* bytes, std::size_t size) {
        constexpr std::size_t most = 512;
        size = std::min(size, most);
        if (room_for(key, size + 2)) {
            put_key(key);
            const auto length = static_cast<std::uint16_t>(size);
            put_raw(&length, sizeof length);
            put_raw(bytes, size);
        }
    }
    /// All fields of another event, if there is enough room.
    void put_fields(const EventBytes& other) { put_fields(other, other.short_end(0)); }
    /// The same without the first one, which is a text.
    void put_fields_after_first(const EventBytes& other) {
        std::size_t at = other.short_end(other.short_end(0)) + 1;
        std::uint16_t length = 0;
        std::memcpy(&length, other.data() + at, sizeof length);
        put_fields(other, at + sizeof length + length);
    }

    Category category() const { return category_; }
    const std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return size_; }

  private:
    void put_fields(const EventBytes& other, std::size_t from) {
        if (size_ + other.size_ - from <= bytes_.size())
            put_raw(other.data() + from, other.size_ - from);
    }
    // The end of the short text at this position.
    std::size_t short_end(std::size_t at) const {
        return at + 1 + std::to_integer<std::size_t>(bytes_[at]);
    }
    bool room_for(const runlog::Key& key, std::size_t value) const {
        return size_ + 2 + key.name.size() + value <= bytes_.size();
    }
    void put_key(const runlog::Key& key) {
        put_short(key.name);
        put_raw(&key.type, 1);
    }
    void put_short(std::string_view text) {
        const auto length = static_cast<std::uint8_t>(text.size());
        put_raw(&length, 1);
        put_raw(text.data(), length);
    }
    void put_raw(const void* bytes, std::size_t size) {
        std::memcpy(bytes_.data() + size_, bytes, size);
        size_ += size;
    }

    Category category_;
    std::array<std::byte, 1024> bytes_;  // only the filled part is read
    std::size_t size_ = 0;
};

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

void the_event_has_no_such_field();

/// An event of the table: `EventWriter<"cq">().add(key::entries, 16)`. A key that this event does
/// not have, or a value of another type, does not compile.
template <runlog::EventName event>
class EventWriter : public EventBytes {
  public:
    template <typename Key>
    struct Own {
        explicit(false) consteval Own(const Key& own) : key(own) {
            if (!event.row().keys.has(own))
                the_event_has_no_such_field();
        }
        Key key;
    };

    EventWriter() : EventWriter(event.row().category) {}
    explicit EventWriter(Category category) : EventBytes(category, name) {}

    EventWriter& add(Own<runlog::NumberKey> own, Number auto value) {
        put(own.key, static_cast<std::uint64_t>(value));
        return *this;
    }
    EventWriter& add(Own<runlog::EnumKey> own, Number auto value) {
        put(own.key, static_cast<std::uint64_t>(value));
        return *this;
    }
    EventWriter& add(Own<runlog::SignedKey> own, Number auto value) {
        put(own.key, static_cast<std::uint64_t>(value));
        return *this;
    }
    EventWriter& add(Own<runlog::TruthKey> own, bool value) {
        put(own.key, static_cast<std::uint64_t>(value));
        return *this;
    }
    EventWriter& add(Own<runlog::TextKey> own, std::string_view value) {
        put_bytes({own.key.name, Type::text}, value.data(), value.size());
        return *this;
    }
    EventWriter& add(Own<runlog::GidKey> own, const ibv_gid* value) {
        put_gid(own.key, value);
        return *this;
    }
    /// Adds nothing unless it is an address of IPv4 or IPv6; nullptr: none.
    EventWriter& add(Own<runlog::AddressKey> own, const sockaddr* value) {
        if (value != nullptr && value->sa_family == AF_INET)
            put_bytes(own.key, value, sizeof(sockaddr_in));
        else if (value != nullptr && value->sa_family == AF_INET6)
            put_bytes(own.key, value, sizeof(sockaddr_in6));
        return *this;
    }
    EventWriter& add(Own<runlog::SgesKey> own, std::span<const Sge> value) {
        put_bytes(own.key, value.data(), value.size_bytes());
        return *this;
    }
    EventWriter& add_fields(const EventBytes& other) {
        put_fields(other);
        return *this;
    }

  private:
    static constexpr std::string_view name = event.row().name;
};

}  // namespace tracelog
