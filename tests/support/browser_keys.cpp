#include "support/browser_keys.hpp"

#include <array>
#include <stdexcept>

namespace support {
namespace {

struct Named {
    std::string_view key;
    int virtual_code;
    std::string_view text;
};

constexpr std::array named{
    Named{"Enter", 13, "\r"},   Named{"Tab", 9, ""},      Named{"Escape", 27, ""},
    Named{"Backspace", 8, ""},  Named{"Delete", 46, ""},  Named{"Insert", 45, ""},
    Named{"ArrowLeft", 37, ""}, Named{"ArrowUp", 38, ""}, Named{"ArrowRight", 39, ""},
    Named{"ArrowDown", 40, ""}, Named{"PageUp", 33, ""},  Named{"PageDown", 34, ""},
    Named{"End", 35, ""},       Named{"Home", 36, ""},    Named{"F1", 112, ""},
    Named{"F2", 113, ""},       Named{"F3", 114, ""},     Named{"F4", 115, ""},
    Named{"F5", 116, ""},       Named{"F6", 117, ""},     Named{"F7", 118, ""},
    Named{"F8", 119, ""},       Named{"F9", 120, ""},     Named{"F10", 121, ""},
    Named{"F11", 122, ""},      Named{"F12", 123, ""},
};

struct Sign {
    std::string_view pair;  // without and with Shift
    std::string_view code;
    int virtual_code;
};

constexpr std::array signs{
    Sign{"  ", "Space", 32},        Sign{"-_", "Minus", 189},        Sign{"=+", "Equal", 187},
    Sign{"[{", "BracketLeft", 219}, Sign{"]}", "BracketRight", 221}, Sign{"\\|", "Backslash", 220},
    Sign{";:", "Semicolon", 186},   Sign{"'\"", "Quote", 222},       Sign{"`~", "Backquote", 192},
    Sign{",<", "Comma", 188},       Sign{".>", "Period", 190},       Sign{"/?", "Slash", 191},
    Sign{"0)", "Digit0", 48},       Sign{"1!", "Digit1", 49},        Sign{"2@", "Digit2", 50},
    Sign{"3#", "Digit3", 51},       Sign{"4$", "Digit4", 52},        Sign{"5%", "Digit5", 53},
    Sign{"6^", "Digit6", 54},       Sign{"7&", "Digit7", 55},        Sign{"8*", "Digit8", 56},
    Sign{"9(", "Digit9", 57},
};

}  // namespace

Key key_named(std::string_view name) {
    const std::string text(name);
    for (const Named& key : named)
        if (key.key == name)
            return {text, text, key.virtual_code, std::string(key.text), false};
    if (name.size() == 1) {
        const char letter = name.front();
        const bool small = letter >= 'a' && letter <= 'z';
        if (small || (letter >= 'A' && letter <= 'Z')) {
            const char capital = small ? static_cast<char>(letter - 'a' + 'A') : letter;
            return {text, std::string("Key") + capital, capital, text, !small};
        }
        for (const Sign& sign : signs)
            if (const auto at = sign.pair.find(letter); at != std::string_view::npos)
                return {text, std::string(sign.code), sign.virtual_code, text, at == 1};
    }
    throw std::runtime_error("no key makes '" + text + "'");
}

}  // namespace support
