#include "util/style.hpp"

#include <algorithm>
#include <array>

namespace util {

// SGR parameters (ECMA-48, 8.3.117) of the eight colours that are readable in every terminal theme.
std::string_view TextStyle::sequence(TextRole role) {
    // In the order of TextRole.
    constexpr std::array<std::string_view, 9> sequences{"",           "\033[2m",  "\033[36m",
                                                        "\033[32m",   "\033[35m", "\033[33m",
                                                        "\033[1;31m", "\033[34m", "\033[33m"};
    return sequences[static_cast<std::size_t>(role)];
}

std::string TextStyle::operator()(TextRole role, std::string_view text) const {
    std::string result;
    if (text.empty())
        return result;
    return result.append(before(role)).append(text).append(after(role));
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    bool escape = false;
    for (const char c : text) {
        if (c == '\033')
            escape = true;
        else if (escape)
            escape = c != 'm';
        else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80)  // no UTF-8 continuation byte
            ++width;
    }
    return width;
}

std::string padded(std::string_view text, std::size_t width) {
    std::string result(text);
    if (const std::size_t has = display_width(text); has < width)
        result.append(width - has, ' ');
    return result;
}

// Exactly two spaces begin a group of words, which goes to the next line as a whole if it fits
// there.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    if (width <= indent)
        return std::string(text);
    std::string result;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
        const std::size_t end = std::min(text.find(' ', spaces), text.size());
        const std::string_view word = text.substr(spaces, end - spaces);
        std::size_t needed = display_width(word);
        if (spaces == 2) {
            const std::string_view rest = text.substr(spaces);
            const std::size_t group = display_width(rest.substr(0, rest.find("  ")));
            if (group <= width - indent)
                needed = group;
        }
        if (column > 0 && column + spaces + needed > width) {
            result.append("\n").append(indent, ' ').append(word);
            column = indent + display_width(word);
        } else {
            result.append(text.substr(0, end));
            column += spaces + display_width(word);
        }
        text.remove_prefix(end);
    }
    return result;
}

std::string continued(std::string_view text, std::size_t width, std::size_t indent) {
    return wrapped(std::string(indent, ' ').append(text), width, indent).substr(indent);
}

}  // namespace util
