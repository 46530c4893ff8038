// Whether a capture has packets twice, once from each of two interfaces: one merged of both ends of
// a link, say, in which each packet looks as if it were retransmitted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/frame.hpp"

namespace rocecap {

/// Remembers the packets that came last, some 65,000 of them.
class InterfaceCopies {
  public:
    void see(const capture::Frame& frame, const wire::Packet& packet);

    /// A sentence where a tenth of the packets or more are copies; else empty. `advice`: what to do
    /// about it, its last part.
    std::string sentence(const std::string& advice) const;

  private:
    struct Seen {
        std::uint64_t digest = 0;
        std::uint32_t interface = 0;
    };

    std::vector<Seen> last_;  // by the digest's low bits; empty until there is a packet
    std::uint64_t packets_ = 0;
    std::uint64_t copies_ = 0;
    std::string here_, there_;  // the interfaces of the first copy
    std::uint32_t other_ = 0;
};

/// "1 ('eth0')".
std::string interface_text(const wire::CaptureNotes& notes);

}  // namespace rocecap
