// Composes text from many short parts: collects them in an array and appends them to a string
// together, which avoids a capacity check and a call per part.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "util/append.hpp"

namespace util {

class Composer {
  public:
    static constexpr std::size_t capacity = 1024;

    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the array is written before it is read
    explicit Composer(std::string& out) : out_(out) {}
    Composer(const Composer&) = delete;
    Composer& operator=(const Composer&) = delete;
    Composer(Composer&&) = delete;
    Composer& operator=(Composer&&) = delete;
    ~Composer() { flush(); }

    /// Returns a position with room for `most` characters, at most `capacity`; end_at() sets how
    /// many were written.
    char* room(std::size_t most) {
        if (static_cast<std::size_t>(text_.data() + capacity - at_) < most)
            flush();
        return at_;
    }
    void end_at(char* end) { at_ = end; }

    void append(char c) {
        *room(1) = c;
        ++at_;
    }
    // Inlined, because most texts are literals, whose lengths are constants.
    [[gnu::always_inline]] void append(std::string_view text) {
        if (text.size() > capacity) {
            flush();
            out_.append(text);
            return;
        }
        at_ += text.copy(room(text.size()), text.size());
    }

    void append(std::size_t count, char c) {
        for (; count > capacity; count -= capacity)
            append(capacity, c);
        std::memset(room(count), c, count);
        at_ += count;
    }

    /// `label` ends where the number begins: " psn 0x". put_hex() and put_decimal() write it.
    void hex(std::string_view label, std::uint64_t value, std::size_t digits) {
        append(label);
        end_at(put_hex(room(digits), value, digits));
    }
    void decimal(std::string_view label, std::uint64_t value) {
        append(label);
        end_at(put_decimal(room(longest_decimal), value));
    }

    /// Length of the string with the collected text.
    std::size_t size() const { return out_.size() + static_cast<std::size_t>(at_ - text_.data()); }

    /// Appends the collected text to the string.
    void flush() {
        out_.append(text_.data(), at_);
        at_ = text_.data();
    }

  private:
    std::string& out_;
    std::array<char, capacity> text_;
    char* at_ = text_.data();
};

}  // namespace util
