// What lesson 01 has shown, for lessons 02 and 03: an rdma_cm server and client whose calls wait for
// their results, and a wait for a completion.
#pragma once

#include <functional>
#include <string>

#include "rdma/cm_handles.hpp"

namespace common {

/// Listens on port 18515 of all addresses, and calls `serve` for each connection request, one after
/// the other. The id is destroyed afterwards. A failure with one client is printed. Does not return.
/// Throws std::system_error.
void serve_each(const std::function<void(rdma_cm_id*)>& serve);

/// Returns an id whose address and route are resolved. Throws util::Error, std::system_error.
rdma::CmId resolve(const std::string& server);

/// Sleeps until a work request has completed, and returns its completion. `cq` has a completion
/// channel. Throws std::system_error.
ibv_wc next_completion(ibv_cq* cq);

}  // namespace common
