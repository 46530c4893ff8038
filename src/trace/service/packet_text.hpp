// A packet as one line of text, with the message above RDMA that it begins.
#pragma once

#include <string>

#include "trace/service/services.hpp"
#include "util/style.hpp"

namespace service {

class PacketText {
  public:
    /// Takes each packet in capture order. Returns wire::packet_summary(), followed by " | " and the
    /// message of a known service, such as "NVMe Read cid 0x0042 ...".
    std::string line(const wire::Packet& packet, util::Bytes frame,
                     const util::TextStyle& style = util::TextStyle());

  private:
    Services services_;
};

}  // namespace service
