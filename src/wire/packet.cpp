// Sentences that describe a frame to a reader.
#include "wire/packet.hpp"

#include <array>

#include <fmt/format.h>

namespace wire {

std::string_view text(NotRoce reason) {
    constexpr std::array<std::string_view, 14> texts{
        "ARP",
        "MAC control",
        "another EtherType",
        "TCP",
        "another IP protocol",
        "another UDP port",
        "an IP fragment without a UDP header; fragments are not reassembled",
        "ESP, which is encrypted",
        "an encapsulation that is not decoded",
        "more than 8 encapsulations",
        "neither Ethernet nor IP",
        "a raw InfiniBand packet",
        "an InfiniBand link packet",
        "another type of ERF record",
    };
    return texts[static_cast<std::size_t>(reason)];
}

bool may_hide_roce(const Packet& packet) {
    if (!packet.not_roce)
        return false;
    switch (*packet.not_roce) {
        case NotRoce::LaterFragment:
        case NotRoce::Esp:
        case NotRoce::Encapsulation:
        case NotRoce::TooDeep:
        case NotRoce::Undecodable:
            return true;
        case NotRoce::OtherUdpPort:
            return packet.udp && !undecoded_tunnel(packet.udp->dst_port).empty();
        default:
            return false;
    }
}

std::string_view Truncated::reason() const {
    return is_sliced ? "truncated before the capture" : "truncated by snap length";
}

std::string Truncated::text() const {
    return fmt::format("{}: {} needs {} bytes, {} left", reason(), what, needs, left);
}

std::string Malformed::text() const {
    switch (fault) {
        case Fault::TooShort:
            return fmt::format("{} needs {} bytes, {} left", what, value, limit);
        case Fault::IpVersion:
            return fmt::format("{} version is {}", what, value);
        case Fault::IpHeaderLength:
            return fmt::format("{} header length is {}, below {}", what, value, limit);
        case Fault::LengthTooSmall:
            return fmt::format("{} length is {}, below the {} bytes of its own header", what, value,
                               limit);
        case Fault::UdpLength:
            return fmt::format("UDP length is {}, but IP leaves {} bytes", value, limit);
        case Fault::LinkVersion:
            return fmt::format("LRH link version is {}, not 0", value);
        case Fault::GrhLength:
            return fmt::format("GRH payload length is {}, but the LRH leaves {} bytes", value,
                               limit);
        case Fault::FirstFragment:
            return fmt::format("RoCE in an {} fragment, which is not reassembled", what);
        case Fault::GrhNextHeader:
            return fmt::format("GRH next header is {:#04x}, not 0x1b", value);
        case Fault::TransportVersion:
            return fmt::format("BTH transport version is {}, not 0", value);
        case Fault::ReservedOpcode:
            return fmt::format("BTH opcode {:#04x} is reserved", value);
        case Fault::PadCount:
            return fmt::format("BTH pad count is {}, but payload and padding have {} bytes", value,
                               limit);
        case Fault::UnexpectedPayload:
            return fmt::format("{} bytes of payload after an opcode that carries none", value);
    }
    return "unknown";
}

}  // namespace wire
