#include "runlog/psn_mask.hpp"

#include <string_view>

namespace runlog {
namespace {

constexpr std::uint32_t psn_bits = 0xffffff;  // IBTA volume 1, 9.2.10: a PSN has 24 bits

bool names_a_psn(std::string_view key) {
    return key == "psn" || key.starts_with("psn_") || key.ends_with("_psn");
}

}  // namespace

void PsnMask::hide(Event& event) {
    if (event.is("qp"))
        if (const auto qpn = event[key::qpn])
            bases_.erase(*qpn);
    if (event.is("post_send"))
        hide_request(event);
    for (Field& field : event.fields)
        if (names_a_psn(field.key) && !field.key.starts_with("psn_offset_"))
            field.value = std::string("secret");
}

void PsnMask::hide_request(Event& event) {
    const auto qpn = event[key::qpn];
    const auto first = event[key::psn_first];
    if (!qpn || !first)
        return;
    const std::uint32_t base = bases_.try_emplace(*qpn, *first).first->second;
    for (Field& field : event.fields)
        for (const auto& [key, hidden] : {std::pair{key::psn_first, key::psn_offset_first},
                                          {key::psn_last, key::psn_offset_last}})
            if (const auto psn = event[key]; psn && field.key == key.name)
                field = Field(hidden, (*psn - base) & psn_bits);
}

}  // namespace runlog
