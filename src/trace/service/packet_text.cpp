#include "trace/service/packet_text.hpp"

#include "wire/text/summary.hpp"

namespace service {

std::string PacketText::line(const wire::Packet& packet, util::Bytes frame,
                             const util::TextStyle& style) {
    std::string text = wire::packet_summary(packet, style, frame);
    if (const upper::Message& message = services_.see(packet); message.body.index() != 0) {
        text += " | ";
        upper::append_text(text, message);
    }
    return text;
}

}  // namespace service
