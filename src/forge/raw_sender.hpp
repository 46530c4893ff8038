// Frames of the program's own making onto an interface, past the kernel's RDMA stack: packet(7).
#pragma once

#include <string>

#include "util/cursor.hpp"
#include "util/fd.hpp"

namespace forge {

class RawSender {
  public:
    /// Opens the socket. Throws util::Error without root or CAP_NET_RAW, std::system_error
    /// otherwise.
    RawSender();

    /// The interface that frames leave by. Throws std::system_error naming it.
    void use(const std::string& interface);

    /// A whole Ethernet frame, without its FCS, as it is: no field is changed or filled in. Throws
    /// util::Error, and sends nothing, unless require_lab() accepts what the frame decodes to:
    /// nobody who sends can go around it. Throws std::system_error where the frame is longer than
    /// the interface's MTU allows, or the interface is down.
    void send(util::Bytes frame);

  private:
    util::Fd socket_;
    int interface_ = 0;
};

}  // namespace forge
