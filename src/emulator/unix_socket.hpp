// Unix stream sockets by their path (unix(7)).
#pragma once

#include <string>

#include "util/fd.hpp"

namespace emulator {

/// Connected, and never blocking; none where nobody listens there. Throws util::Error for a path
/// that is too long to be one.
util::Fd connect_unix(const std::string& path);

/// Listening, and never blocking, for this user only. A socket file that nobody listens at is
/// replaced. Throws util::Error.
util::Fd listen_unix(const std::string& path);

}  // namespace emulator
