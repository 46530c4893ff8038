// Text that is composed of many short parts: it gathers in an array and goes behind a string as a
// whole, so that a part costs no look at the string's capacity and no call.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

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

    /// Where the next `most` characters have room, at most `capacity` of them; end_at() says how
    /// many there are.
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
    void append(std::string_view text) {
        if (text.size() > capacity) {
            flush();
            out_.append(text);
            return;
        }
        std::memcpy(room(text.size()), text.data(), text.size());
        at_ += text.size();
    }

    /// Moves what gathered behind the string.
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
