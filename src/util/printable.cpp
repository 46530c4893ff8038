#include "util/printable.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <endian.h>
#include <iterator>

#include <fmt/format.h>

#include "util/utf8.hpp"

namespace util {
namespace {

struct Range {
    char32_t first, last;
};

// Characters of the categories Cc (from DEL on), Cf, Zl and Zp, and the rest of the blocks that
// Unicode reserves for invisible characters. Sorted.
constexpr std::array hidden{
    Range{0x7f, 0x9f},        // DEL, C1 controls
    Range{0xad, 0xad},        // soft hyphen
    Range{0x61c, 0x61c},      // Arabic letter mark
    Range{0x180e, 0x180e},    // Mongolian vowel separator
    Range{0x200b, 0x200f},    // zero width, left-to-right and right-to-left marks
    Range{0x2028, 0x202e},    // line and paragraph separators, embeddings and overrides
    Range{0x2060, 0x206f},    // word joiner, isolates
    Range{0xfeff, 0xfeff},    // byte order mark
    Range{0xfff9, 0xfffb},    // interlinear annotation
    Range{0xe0000, 0xe0fff},  // tags
};

bool is_hidden(char32_t code) {
    if (code > 0x206f && code < 0xfeff)  // arrows, mathematical operators, many scripts
        return false;
    const auto* range = std::ranges::lower_bound(hidden, code, {}, &Range::last);
    return range != hidden.end() && code >= range->first;
}

// Number of bytes at the start of `text` that are printable ASCII. Checks word by word: this runs
// for each packet's line.
std::size_t plain_at(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t high_bits = 0x80 * ones;
    std::size_t size = 0;
    for (std::uint64_t word = 0; size + sizeof word <= text.size(); size += sizeof word) {
        std::memcpy(&word, text.data() + size, sizeof word);
        word = le64toh(word);
        // The lowest bit that is set is in the first other byte; carries and borrows go upwards.
        const std::uint64_t others = (word | (word + ones) | (word - ' ' * ones)) & high_bits;
        if (others != 0)
            return size + static_cast<std::size_t>(std::countr_zero(others)) / 8;
    }
    while (size < text.size() && text[size] >= ' ' && text[size] <= '~')
        ++size;
    return size;
}

void append_escape(std::string& out, char32_t code) {
    const auto number = static_cast<std::uint32_t>(code);
    if (code == '\n')
        out += "\\n";
    else if (code == '\r')
        out += "\\r";
    else if (code == '\t')
        out += "\\t";
    else if (code < 0x20)
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
    else if (code < 0x10000)
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
    else  // a surrogate pair, as in JSON
        fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}",
                       0xd800 + ((number - 0x10000) >> 10U), 0xdc00 + (number & 0x3ffU));
}

// Number of bytes at the start of `text` that are a line feed, a tab or a colour.
std::size_t layout_at(std::string_view text) {
    if (text.front() == '\n' || text.front() == '\t')
        return 1;
    if (!text.starts_with("\x1b["))
        return 0;
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Number of bytes at the start of `text` that need no escape.
std::size_t passes_at(std::string_view text, bool keeps_layout) {
    std::size_t size = 0;
    while (true) {
        size += plain_at(text.substr(size));
        const std::string_view rest = text.substr(size);
        if (rest.empty())
            return size;
        if (const std::size_t layout = keeps_layout ? layout_at(rest) : 0; layout != 0) {
            size += layout;
            continue;
        }
        const Character character = first_character(rest);
        if (!character.code || *character.code < ' ' || is_hidden(*character.code))
            return size;
        size += character.size;
    }
}

void append_printable(std::string& out, std::string_view text, bool keeps_layout) {
    while (true) {
        const std::size_t passes = passes_at(text, keeps_layout);
        out.append(text.substr(0, passes));
        text.remove_prefix(passes);
        if (text.empty())
            return;
        const Character character = first_character(text);
        if (character.code)
            append_escape(out, *character.code);
        else
            fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                           static_cast<unsigned char>(text.front()));
        text.remove_prefix(character.size);
    }
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    append_printable(out, text, false);
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    append_printable(out, text, true);
    return out;
}

bool are_printable_lines(std::string_view text) {
    return passes_at(text, true) == text.size();
}

void print_error(std::string_view text) {
    std::fputs(printable_lines(text).c_str(), stderr);
}

void complain(std::string_view program, std::string_view sentence) {
    if (sentence.ends_with('.'))
        sentence.remove_suffix(1);
    print_error(fmt::format("{}: {}.\n", program, printable(sentence)));
}

}  // namespace util
