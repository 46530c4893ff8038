// MAC control frames, EtherType 0x8808: PAUSE (IEEE 802.3, annex 31B) and priority-based flow
// control (PFC; annex 31D).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "util/cursor.hpp"

namespace wire {

/// One quantum is the time of 512 bits on the link; 0 quanta: resume transmission.
struct MacControl {
    static constexpr std::size_t opcode_size = 2;
    static constexpr std::size_t pause_size = 2;
    static constexpr std::size_t priorities = 8;
    static constexpr std::size_t pfc_size = 2 + 2 * priorities;
    static constexpr std::uint16_t pause = 0x0001;
    static constexpr std::uint16_t pfc = 0x0101;

    std::uint16_t opcode = 0;
    /// PFC: bit N set means that quanta[N] is valid. 0 for other opcodes.
    std::uint16_t class_enable = 0;
    /// PFC: by priority. PAUSE: only the first.
    std::array<std::uint16_t, priorities> quanta{};

    bool is_pause() const { return opcode == pause; }
    bool is_pfc() const { return opcode == pfc; }
    bool enables(std::size_t priority) const { return (class_enable >> priority & 1U) != 0; }

    void parse_pause(util::FixedBytes<pause_size> bytes) { quanta[0] = util::be16<0>(bytes); }
    void parse_pfc(util::FixedBytes<pfc_size> bytes);
    /// "PFC pause priority 3: 65535 quanta", "PFC resume priority 3, 4", "PAUSE 65535 quanta",
    /// "MAC control opcode 0x0002".
    std::string text() const;
};

}  // namespace wire
