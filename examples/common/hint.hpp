// What to try after common failures of verbs and rdma_cm calls.
#pragma once

#include <string>
#include <system_error>

namespace common {

/// Returns the call in a util::check_* error: "rdma_bind_addr(192.0.2.9 port 18515)".
std::string call_of(const std::system_error& error);

/// Returns one or two sentences that begin with a space; empty if there is no hint for this error.
std::string hint_for(const std::system_error& error);

}  // namespace common
