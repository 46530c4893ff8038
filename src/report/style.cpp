#include "report/style.hpp"

namespace report {
namespace {

// SGR parameters (ECMA-48, 8.3.117) of the eight colours that every terminal theme makes readable.
constexpr std::string_view code(Role role) {
    switch (role) {
        case Role::Plain:
            return "";
        case Role::Dim:
            return "2";
        case Role::Request:
            return "36";
        case Role::Response:
            return "32";
        case Role::Connection:
            return "35";
        case Role::Notice:
            return "33";
        case Role::Bad:
            return "1;31";
        case Role::Server:
            return "34";
        case Role::Client:
            return "33";
    }
    return "";
}

}  // namespace

std::string Style::operator()(Role role, std::string_view text) const {
    std::string result;
    const std::string_view parameters = code(role);
    if (!colour_ || parameters.empty() || text.empty())
        return result.append(text);
    return result.append("\033[").append(parameters).append("m").append(text).append("\033[0m");
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

}  // namespace report
