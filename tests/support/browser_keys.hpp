// The keys of a US keyboard in the format of DevTools' Input.dispatchKeyEvent.
#pragma once

#include <string>
#include <string_view>

namespace support {

/// `code` is that of https://www.w3.org/TR/uievents-code/, the number is Windows' VK_*.
struct Key {
    std::string key;
    std::string code;
    int virtual_code = 0;
    std::string text;    // the text that it types, or empty
    bool shift = false;  // held to get `key`
};

/// Finds a key by its event.key in a page: "a", "A", "?", " ", "Enter", "ArrowDown", "F1".
/// Throws std::runtime_error if there is no such key.
Key key_named(std::string_view name);

}  // namespace support
