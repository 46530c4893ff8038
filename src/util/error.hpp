// An error whose text is a message for the user: what failed, with what, and what to try.
#pragma once

#include <stdexcept>

namespace util {

class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace util
