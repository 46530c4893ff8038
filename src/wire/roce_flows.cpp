#include "wire/roce_flows.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace wire {
namespace {

constexpr std::size_t places = 8192;
// Later packets of a flow without a right ICRC are taken at their looks.
constexpr std::uint8_t most_checked = 8;
constexpr std::size_t most_named = 3;

// Above the range of ports, for the keys of other things than flows to port 4791.
constexpr std::uint32_t of_reply = 0x10000;
constexpr std::uint32_t of_hosts = 0x20000;

enum class Doubt : std::uint8_t {
    None,
    Some,  ///< unusual: not RoCE if its ICRC is wrong as well
    Much,  ///< invalid: not RoCE without a right ICRC
};

// Every header has a multiple of four bytes, and so has payload with padding (IBTA volume 1, 9.2.4).
bool is_invalid(const Packet& packet) {
    if (packet.malformed)
        switch (packet.malformed->fault) {
            case Fault::TooShort:
            case Fault::LengthTooSmall:
            case Fault::TransportVersion:
            case Fault::ReservedOpcode:
            case Fault::PadCount:
            case Fault::UnexpectedPayload:
                return true;
            default:
                break;
        }
    return packet.udp->length % 4 != 0;
}

// A device chooses a source port above the well-known ones, as of 0xc000 (IBTA annex A17 recommends
// entropy in it); 0 is no valid P_Key (10.9.1), and no queue pair for others than a subnet manager.
bool is_unusual(const Packet& packet) {
    constexpr std::uint16_t last_well_known = 1023;
    constexpr unsigned p_key_base = 0x7fff;
    const Bth& bth = *packet.bth;
    return packet.udp->src_port <= last_well_known || (bth.p_key & p_key_base) == 0 ||
           bth.dest_qpn == 0 || is_manufacturer_opcode(bth.opcode) ||
           (bth.dest_qpn == gsi_qpn && packet.opcode != nullptr &&
            packet.opcode->transport() != Transport::Ud);
}

Doubt doubt_of(const Packet& packet) {
    if (is_invalid(packet))
        return Doubt::Much;
    return is_unusual(packet) ? Doubt::Some : Doubt::None;
}

IpAddress source(const Packet& packet) {
    return packet.ipv4 ? IpAddress(packet.ipv4->src) : IpAddress(packet.ipv6->src);
}
IpAddress destination(const Packet& packet) {
    return packet.ipv4 ? IpAddress(packet.ipv4->dst) : IpAddress(packet.ipv6->dst);
}

}  // namespace

RoceFlows::Key RoceFlows::Key::of(const Packet& packet, std::uint32_t port) {
    constexpr std::uint64_t ipv4_mapped = 0xffff'0000'0000;
    const auto word = [](const Ipv4Address& address) {
        return ipv4_mapped | std::bit_cast<std::uint32_t>(address.bytes);
    };
    using Words = std::array<std::uint64_t, 2>;
    if (packet.ipv4)
        return {.addresses = {0, word(packet.ipv4->src), 0, word(packet.ipv4->dst)}, .port = port};
    const auto src = std::bit_cast<Words>(packet.ipv6->src.bytes);
    const auto dst = std::bit_cast<Words>(packet.ipv6->dst.bytes);
    return {.addresses = {src[0], src[1], dst[0], dst[1]}, .port = port};
}

RoceFlows::Key RoceFlows::Key::reversed() const {
    return {.addresses = {addresses[2], addresses[3], addresses[0], addresses[1]}, .port = port};
}

std::size_t RoceFlows::Key::hash() const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    const std::uint64_t mixed = addresses[0] ^ addresses[1] ^ std::rotl(addresses[2], 16) ^
                                std::rotl(addresses[3], 32) ^ std::uint64_t{port} << 40;
    return (mixed * odd) >> 51;
}
static_assert(places == std::size_t{1} << (64 - 51));

RoceFlows::RoceFlows(bool trust_port) : flows_(places), trust_port_(trust_port) {}

Packet RoceFlows::decode(util::Bytes frame, LinkType link, std::size_t original_length,
                         IcrcCheck icrc) {
    Packet packet = wire::decode(frame, link, original_length, icrc);
    settle(packet, frame, link, original_length, icrc);
    return packet;
}

void RoceFlows::settle(Packet& packet, util::Bytes frame, LinkType link,
                       std::size_t original_length, IcrcCheck icrc) {
    if (!packet.udp)
        return;
    last_ = {frame, link, original_length};
    if (packet.bth)
        decide(packet, icrc);
    else if (packet.udp->src_port == roce_v2_port && packet.not_roce)
        decide_reply(packet, icrc);
    explain_icrc(packet);
}

void RoceFlows::decide(Packet& packet, IcrcCheck icrc) {
    const Key key = Key::of(packet, packet.udp->src_port);
    Flow& flow = flow_of(key);
    if (flow.is_proven)
        return;
    const bool is_new = flow.checked == 0;
    if (judge(flow, packet, RocePorts::Destination) || trust_port_) {
        if (is_new)
            note_addresses(packet);
        return;
    }
    leave_out(packet, key);
    packet = last_.decode(icrc, RocePorts::None);
}

void RoceFlows::decide_reply(Packet& packet, IcrcCheck icrc) {
    Packet reply = last_.decode(icrc, RocePorts::Either);
    if (!reply.bth)
        return;
    const std::uint32_t port = reply.udp->dst_port;
    const Flow* requests = find(Key::of(reply, port).reversed());
    Flow& flow = flow_of(Key::of(reply, port | of_reply));
    const bool looks_right = flow.is_proven || judge(flow, reply, RocePorts::Either);
    if (!flow.is_proven && !(looks_right && requests != nullptr && requests->is_roce()))
        return;
    packet = reply;
}

// Whether the flow is RoCE with this packet.
bool RoceFlows::judge(Flow& flow, const Packet& packet, RocePorts ports) {
    const Doubt doubt = doubt_of(packet);
    IcrcStatus status = IcrcStatus::Unchecked;
    if (flow.checked < most_checked || doubt != Doubt::None) {
        flow.checked = static_cast<std::uint8_t>(std::min(flow.checked + 1, int{most_checked}));
        status = status_of(packet, ports);
    }
    if (status == IcrcStatus::Good) {
        prove(flow);
        return true;
    }
    constexpr std::int16_t most = 1000;
    const bool looks_right =
        doubt == Doubt::None || (doubt == Doubt::Some && status == IcrcStatus::Unchecked);
    flow.votes = static_cast<std::int16_t>(
        std::clamp<int>(flow.votes + (looks_right ? 1 : -1), -most, most));
    if (flow.votes > 0)
        return true;
    // Between hosts that use RoCE, the kernel gives port 4791 to no other program.
    constexpr std::uint16_t first_roce_source = 0xc000;
    const Flow* hosts = find(Key::of(packet, of_hosts));
    return packet.udp->src_port >= first_roce_source && hosts != nullptr && hosts->is_proven;
}

void RoceFlows::prove(Flow& flow) {
    flow.is_proven = true;
    Key hosts = flow.key;
    hosts.port = of_hosts;
    for (const Key& key : {hosts, hosts.reversed()}) {
        Flow& both = flow_of(key);
        both.is_proven = true;
    }
}

// Computes the ICRC if it was not.
IcrcStatus RoceFlows::status_of(const Packet& packet, RocePorts ports) const {
    if (!packet.icrc || !packet.icrc->value)
        return IcrcStatus::Unchecked;
    if (packet.icrc->status != IcrcStatus::Unchecked)
        return packet.icrc->status;
    return last_.decode(IcrcCheck::Compute, ports).icrc->status;
}

RoceFlows::Flow& RoceFlows::flow_of(const Key& key) {
    Flow& flow = flows_[key.hash()];
    if (flow.key != key)
        flow = {.key = key};
    return flow;
}

const RoceFlows::Flow* RoceFlows::find(const Key& key) const {
    const Flow& flow = flows_[key.hash()];
    return flow.key == key ? &flow : nullptr;
}

void RoceFlows::leave_out(const Packet& packet, const Key& key) {
    ++left_out_;
    auto one = std::ranges::find(named_, key, &LeftOut::key);
    if (one == named_.end()) {
        if (named_.size() == most_named)
            return;
        named_.push_back({.key = key,
                          .text = fmt::format("{} port {} → {}", text(source(packet)),
                                              packet.udp->src_port, text(destination(packet)))});
        one = named_.end() - 1;
    }
    ++one->packets;
}

std::string RoceFlows::left_out_text() const {
    if (left_out_ == 0)
        return {};
    std::string flows;
    std::uint64_t others = left_out_;
    for (const LeftOut& one : named_) {
        flows += fmt::format("{}{}", flows.empty() ? "" : ", ", one.text);
        if (one.packets != left_out_)
            flows += fmt::format(" ({})", one.packets);
        others -= one.packets;
    }
    if (others != 0)
        flows += fmt::format(", others ({})", others);
    return fmt::format(
        "{} to UDP port 4791 {} not RoCE and left out: {}; --trust-port decodes them, and "
        "net.ipv4.ip_local_reserved_ports reserves the port on hosts that use RoCE.",
        left_out_ == 1 ? "1 packet" : fmt::format("{} packets", left_out_),
        left_out_ == 1 ? "is" : "are", flows);
}

void RoceFlows::explain_icrc(Packet& packet) {
    if (!packet.icrc || packet.icrc->status != IcrcStatus::Bad)
        return;
    const auto found = icrc_hint(
        packet, std::span<const IpAddress>(known_).first(std::min(known_count_, known_.size())));
    if (!found)
        return;
    hint_ = *found;
    packet.icrc->hint = &hint_;
}

// Keeps the newest ones.
void RoceFlows::know(const IpAddress& address) {
    if (std::ranges::find(known_, address) == known_.end())
        known_[known_count_++ % known_.size()] = address;
}

void RoceFlows::note_addresses(const Packet& packet) {
    know(source(packet));
    know(destination(packet));
}

}  // namespace wire
