// The message of the error that a call throws.
#pragma once

#include <string>

#include "util/error.hpp"

namespace support {

/// Returns the message of the util::Error that `call` throws; empty if it does not throw.
template <typename Call>
std::string error_text(Call call) {
    try {
        call();
    } catch (const util::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace support
