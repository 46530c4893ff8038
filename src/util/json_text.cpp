#include "util/json_text.hpp"

#include <cstdint>
#include <cstring>

#include "util/append.hpp"
#include "util/utf8.hpp"

namespace util {
namespace {

// Whether a char is signed depends on the machine: the upper bound excludes UTF-8's bytes on each.
bool is_unescaped(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// Number of bytes at the start of `text` that are ASCII and need no escape. Checks word by word:
// most texts need no escape at all.
std::size_t unescaped_at(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t high_bits = 0x80 * ones;
    // Sets the highest bit of the first zero byte, and of no byte below it.
    const auto zeros = [](std::uint64_t word) { return (word - ones) & ~word & high_bits; };
    std::size_t size = 0;
    for (std::uint64_t word = 0; size + sizeof word <= text.size(); size += sizeof word) {
        std::memcpy(&word, text.data() + size, sizeof word);
        const std::uint64_t special = word | (word + ones) | (word - ' ' * ones);
        if ((special & high_bits) != 0 || zeros(word ^ '"' * ones) != 0 ||
            zeros(word ^ '\\' * ones) != 0)
            break;
    }
    while (size < text.size() && is_unescaped(text[size]))
        ++size;
    return size;
}

void append_json_escape(Composer& out, char c) {
    switch (c) {
        case '"':
            return out.append("\\\"");
        case '\\':
            return out.append("\\\\");
        case '\n':
            return out.append("\\n");
        case '\r':
            return out.append("\\r");
        case '\t':
            return out.append("\\t");
        default:
            out.append("\\u");
            constexpr std::size_t digits = 4;
            out.end_at(put_hex(out.room(digits), static_cast<unsigned char>(c), digits));
    }
}

}  // namespace

void append_json_string(Composer& out, std::string_view text) {
    out.append('"');
    while (true) {
        const std::size_t plain = unescaped_at(text);
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const Character character = first_character(text);
        if (!character.code)
            out.append("\xef\xbf\xbd");  // U+FFFD
        else if (character.size == 1)
            append_json_escape(out, text.front());
        else
            out.append(text.substr(0, character.size));
        text.remove_prefix(character.size);
    }
    out.append('"');
}

}  // namespace util
