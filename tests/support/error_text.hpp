// The sentence that a call refuses with.
#pragma once

#include <string>

#include "util/error.hpp"

namespace support {

/// What the util::Error says that `call` throws; empty where it throws none.
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
