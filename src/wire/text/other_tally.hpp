// What a capture has beside RoCE: said at the end, so that nothing is passed over in silence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/packet.hpp"

namespace wire {

class OtherTally {
  public:
    void add(const Packet& packet);

    /// Lines without a line feed; none where there is nothing to say. Without a RoCE packet, what
    /// there is instead; packets that may have RoCE inside which is not decoded; PFC and PAUSE.
    std::vector<std::string> lines() const;

  private:
    /// What tells one kind of packet from another.
    struct Key {
        std::uint8_t outer = 0;    ///< 1 + the innermost encapsulation's kind, 0 without one
        std::uint8_t reason = 0;   ///< 1 + NotRoce; 0 where decoding ended in front of the BTH
        std::uint16_t detail = 0;  ///< EtherType, IP protocol or UDP port

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
    /// By priority; the last one is PAUSE's, of the whole link.
    std::array<FlowControl, MacControl::priorities + 1> flow_control_{};
};

}  // namespace wire
