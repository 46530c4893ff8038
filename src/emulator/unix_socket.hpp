// Unix stream sockets by their path (unix(7)).
#pragma once

#include <string>

#include "util/fd.hpp"

namespace emulator {

/// Returns a connected, non-blocking socket, or an empty Fd if nothing listens at `path`. Throws
/// util::Error if the path is too long.
util::Fd connect_unix(const std::string& path);

/// Returns a listening, non-blocking socket with access for this user only. Replaces a stale socket
/// file. Throws util::Error.
util::Fd listen_unix(const std::string& path);

}  // namespace emulator
