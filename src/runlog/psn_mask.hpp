// Removes the PSNs from events before they are written, for a run whose PSNs are secret until its
// first packet shows them on the wire.
//
// A masked log can still be joined with a capture: it keeps the distance of each request's PSNs
// from the first request of its queue pair.
#pragma once

#include <cstdint>
#include <map>

#include "runlog/event.hpp"

namespace runlog {

class PsnMask {
  public:
    /// Replaces each field that names a PSN (its key is `psn`, begins with `psn_` or ends in
    /// `_psn`) by "secret". But the `psn_first` and `psn_last` of a post_send become
    /// `psn_offset_first` and `psn_offset_last`: their distance, 0 to 2^24 - 1, from the
    /// `psn_first` of the first post_send with that `qpn`. After a `qp` event, the number belongs
    /// to a new queue pair, which counts from its own first request.
    void hide(Event& event);

  private:
    void hide_request(Event& event);

    std::map<std::uint64_t, std::uint32_t> bases_;  // QPN -> PSN of its first request
};

}  // namespace runlog
