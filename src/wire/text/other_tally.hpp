// Counts packets other than RoCE, to report them at the end of a capture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/packet.hpp"

namespace wire {

class OtherTally {
  public:
    void add(const Packet& packet);

    /// Lines without a line feed; none if there is nothing to report. They report what the capture
    /// has if it has no RoCE, packets that may contain RoCE that is not decoded, and PFC and PAUSE.
    std::vector<std::string> lines() const;

  private:
    /// Distinguishes kinds of packets.
    struct Key {
        std::optional<OuterKind> outer;  ///< of the innermost encapsulation
        std::optional<NotRoce> reason;   ///< none: decoding ended before the BTH
        std::uint16_t detail = 0;        ///< EtherType, IP protocol or UDP port

        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Kind {
        Key key;
        bool may_hide_roce = false;
        std::uint64_t count = 0;
        std::string name{};
    };
    struct FlowControl {
        std::uint64_t pause = 0;
        std::uint64_t resume = 0;
    };

    static Key key_of(const Packet& packet);
    void add_flow_control(const MacControl& control);
    std::string instead() const;
    std::string hidden() const;
    std::string flow_control() const;

    std::uint64_t packets_ = 0;
    std::uint64_t roce_ = 0;
    std::vector<Kind> kinds_;
    /// By priority; the last one is PAUSE, for the whole link.
    std::array<FlowControl, MacControl::priorities + 1> flow_control_{};
};

}  // namespace wire
