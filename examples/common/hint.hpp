// What to try when a verbs or rdma_cm call fails, for the failures a newcomer meets.
#pragma once

#include <string>
#include <system_error>

namespace common {

/// The call a util::check_* error names, "rdma_bind_addr(192.0.2.9 port 18515)".
std::string call_of(const std::system_error& error);

/// One or two sentences beginning with a space; empty where nothing better than the error itself
/// can be said.
std::string hint_for(const std::system_error& error);

}  // namespace common
