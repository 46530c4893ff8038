#include "render/cause_text.hpp"

#include <fmt/format.h>

#include "util/append.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

std::string_view seen_text(timeline::Transmission seen) {
    return seen == timeline::Transmission::Again  ? ", again"
           : seen == timeline::Transmission::Late ? ", late"
                                                  : "";
}

std::string text_of(const timeline::SetUp& set_up) {
    if (set_up.by == timeline::SetUp::By::Exchange)
        return set_up.role + "'s exchange";
    if (set_up.qpn)
        return fmt::format("{}'s connection, QP {:#08x}", set_up.role, *set_up.qpn);
    return set_up.role + "'s connection";
}

}  // namespace

std::string cause_arrow(const timeline::PacketRow& packet) {
    if (packet.set_up)
        return "← " + text_of(*packet.set_up);
    if (!packet.cause)
        return {};
    const timeline::PostedRequest& cause = *packet.cause;
    std::string text = "← " + cause.role + " wr ";
    util::append_decimal(text, cause.wr_id);
    if (cause.packets > 1) {
        util::append_decimal(text.append(", "), cause.packet);
        util::append_decimal(text.append(" of "), cause.packets);
    }
    return text.append(seen_text(cause.seen));
}

std::string cause_comment(const timeline::PacketRow& packet) {
    if (packet.set_up)
        return text_of(*packet.set_up);
    if (!packet.cause)
        return {};
    const timeline::PostedRequest& cause = *packet.cause;
    return fmt::format("{}{} wr {} {} {} B, PSN {} of {}{}", cause.is_response ? "answers " : "",
                       cause.role, cause.wr_id, util::printable(cause.opcode), cause.length,
                       cause.packet, cause.packets, seen_text(cause.seen));
}

}  // namespace render
