// An event with named fields, as bytes: built on the stack, without allocation.
//
// Layout: length and bytes of the name; then for each field length and bytes of its key, the type
// of its value, and the value (record.hpp, Type).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rocetrace/tracelog/record.hpp"

namespace tracelog {

class EventWriter {
  public:
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): bytes_ is filled as fields come
    explicit EventWriter(Category category, std::string_view name) : category_(category) {
        put_short(name);
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as above
    EventWriter(const EventWriter& other) : category_(other.category_) {
        put(other.data(), other.size());
    }
    EventWriter& operator=(const EventWriter&) = delete;
    // It has no memory of its own that a move could take over.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as above
    EventWriter(EventWriter&& other) noexcept : category_(other.category_) {
        put(other.data(), other.size());
    }
    EventWriter& operator=(EventWriter&&) = delete;
    ~EventWriter() = default;

    EventWriter& add(std::string_view key, std::uint64_t value, Type type = Type::number) {
        if (room_for(key, 8)) {
            put_key(key, type);
            put(&value, sizeof value);
        }
        return *this;
    }
    EventWriter& add_text(std::string_view key, std::string_view value) {
        return add_bytes(key, Type::text, value.data(), value.size());
    }
    EventWriter& add_negative(std::string_view key, std::int64_t value) {
        return add(key, static_cast<std::uint64_t>(value), Type::negative);
    }
    EventWriter& add_error(int error) {
        return add("error", static_cast<std::uint64_t>(static_cast<std::int64_t>(error)),
                   Type::error);
    }
    EventWriter& add_gid(std::string_view key, const void* gid) {
        if (room_for(key, 16)) {
            put_key(key, Type::gid);
            put(gid, 16);
        }
        return *this;
    }
    /// Adds all fields of another event, if there is enough room.
    EventWriter& add_fields(const EventWriter& other) {
        return add_fields(other, other.short_end(0));
    }
    /// The same without the first one, which is a text.
    EventWriter& add_fields_after_first(const EventWriter& other) {
        std::size_t at = other.short_end(other.short_end(0)) + 1;
        std::uint16_t length = 0;
        std::memcpy(&length, other.data() + at, sizeof length);
        return add_fields(other, at + sizeof length + length);
    }
    EventWriter& add_sges(std::string_view key, const Sge* first, std::size_t count) {
        return add_bytes(key, Type::sges, first, count * sizeof(Sge));
    }
    /// Adds a text or an address, truncated if there is not enough room.
    EventWriter& add_bytes(std::string_view key, Type type, const void* bytes, std::size_t size) {
        size = size < most_text ? size : most_text;
        if (room_for(key, size + 2)) {
            put_key(key, type);
            const auto length = static_cast<std::uint16_t>(size);
            put(&length, sizeof length);
            put(bytes, size);
        }
        return *this;
    }

    Category category() const { return category_; }
    const std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t most_text = 512;

    EventWriter& add_fields(const EventWriter& other, std::size_t from) {
        if (size_ + other.size_ - from <= bytes_.size())
            put(other.data() + from, other.size_ - from);
        return *this;
    }
    // The end of the short text at this position.
    std::size_t short_end(std::size_t at) const {
        return at + 1 + std::to_integer<std::size_t>(bytes_[at]);
    }
    bool room_for(std::string_view key, std::size_t value) const {
        return size_ + 2 + key.size() + value <= bytes_.size();
    }
    void put_key(std::string_view key, Type type) {
        put_short(key);
        put(&type, 1);
    }
    void put_short(std::string_view text) {
        const auto length = static_cast<std::uint8_t>(text.size());
        put(&length, 1);
        put(text.data(), length);
    }
    void put(const void* bytes, std::size_t size) {
        std::memcpy(bytes_.data() + size_, bytes, size);
        size_ += size;
    }

    Category category_;
    std::array<std::byte, 1024> bytes_;  // only the filled part is read
    std::size_t size_ = 0;
};

}  // namespace tracelog
