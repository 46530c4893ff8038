#include "wire/mac_control.hpp"

#include <utility>

#include <fmt/format.h>

namespace wire {
namespace {

template <std::size_t... Priority>
void parse_quanta(MacControl& control, util::FixedBytes<MacControl::pfc_size> bytes,
                  std::index_sequence<Priority...>) {
    (..., (control.quanta[Priority] = util::be16<2 + 2 * Priority>(bytes)));
}

// Groups priorities that have the same quanta.
std::string pfc_text(const MacControl& control) {
    std::string text = "PFC";
    unsigned said = 0;
    for (std::size_t first = 0; first < MacControl::priorities; ++first) {
        if (!control.enables(first) || (said >> first & 1U) != 0)
            continue;
        const std::uint16_t quanta = control.quanta[first];
        text += said == 0 ? "" : ",";
        text += quanta == 0 ? " resume priority" : " pause priority";
        for (std::size_t priority = first; priority < MacControl::priorities; ++priority)
            if (control.enables(priority) && control.quanta[priority] == quanta) {
                text += fmt::format("{} {}", priority == first ? "" : ",", priority);
                said |= 1U << priority;
            }
        if (quanta != 0)
            text += fmt::format(": {} quanta", quanta);
    }
    return said == 0 ? "PFC without a priority" : text;
}

}  // namespace

void MacControl::parse_pfc(util::FixedBytes<pfc_size> bytes) {
    class_enable = util::be16<0>(bytes);
    parse_quanta(*this, bytes, std::make_index_sequence<priorities>());
}

std::string MacControl::text() const {
    if (is_pfc())
        return pfc_text(*this);
    if (is_pause())
        return quanta[0] == 0 ? "PAUSE resume" : fmt::format("PAUSE {} quanta", quanta[0]);
    return fmt::format("MAC control opcode 0x{:04x}", opcode);
}

}  // namespace wire
