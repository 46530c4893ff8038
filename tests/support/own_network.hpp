// A network of a test's own: what other processes send to this host is not in it.
#pragma once

#include "util/fd.hpp"

namespace support {

/// Puts this thread, and the processes that it starts, into a network namespace that has only the
/// loopback interface, until the object is destroyed. Without the right to do so, nothing changes.
class OwnNetwork {
  public:
    OwnNetwork();
    OwnNetwork(const OwnNetwork&) = delete;
    OwnNetwork(OwnNetwork&&) = delete;
    OwnNetwork& operator=(const OwnNetwork&) = delete;
    OwnNetwork& operator=(OwnNetwork&&) = delete;
    ~OwnNetwork();

  private:
    util::Fd before_;  // none: nothing has changed
};

}  // namespace support
