// Detects a capture that has packets twice, once from each of two interfaces. An example is a
// capture merged from both ends of a link, in which each packet looks retransmitted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/frame.hpp"

namespace rocecap {

/// Remembers about 65,000 packets, the latest ones.
class InterfaceCopies {
  public:
    void see(const capture::Frame& frame, const wire::Packet& packet);

    /// Prints a warning if a tenth of the packets or more are copies. `advice`: its end, what to do
    /// about it.
    void warn(const std::string& advice) const;

  private:
    struct Seen {
        std::uint64_t digest = 0;
        std::uint32_t interface = 0;
    };

    std::vector<Seen> last_;  // indexed by the digest's low bits; empty before the first packet
    std::uint64_t packets_ = 0;
    std::uint64_t copies_ = 0;
    std::string here_, there_;  // the interfaces of the first copy
    std::uint32_t other_ = 0;
};

/// "1 ('eth0')".
std::string interface_text(const wire::CaptureNotes& notes);

}  // namespace rocecap
