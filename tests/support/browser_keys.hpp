// The keys of a US keyboard, as DevTools' Input.dispatchKeyEvent wants them.
#pragma once

#include <string>
#include <string_view>

namespace support {

/// https://www.w3.org/TR/uievents-code/ has `code`, and Windows' VK_* are the numbers.
struct Key {
    std::string key;
    std::string code;
    int virtual_code = 0;
    std::string text;    // what it types; empty where it types nothing
    bool shift = false;  // held to get `key`
};

/// By what a page sees as event.key: "a", "A", "?", " ", "Enter", "ArrowDown", "F1".
/// Throws std::runtime_error where no key makes it.
Key key_named(std::string_view name);

}  // namespace support
