#include "trace/flow/key.hpp"

namespace flow {

std::optional<StreamKey> StreamKey::of(const wire::Packet& packet) {
    if (!packet.bth)
        return std::nullopt;
    StreamKey key;
    if (packet.ipv4) {
        key.src = Host::of(packet.ipv4->src);
        key.dst = Host::of(packet.ipv4->dst);
        key.network = Network::Ipv4;
    } else if (packet.ipv6) {
        key.src = Host::of(packet.ipv6->src);
        key.dst = Host::of(packet.ipv6->dst);
        key.network = Network::Ipv6;
    } else if (packet.grh) {
        key.src = Host::of(packet.grh->sgid);
        key.dst = Host::of(packet.grh->dgid);
        key.network = Network::Grh;
    } else {
        key.src = Host::of_lid(packet.lrh->slid);
        key.dst = Host::of_lid(packet.lrh->dlid);
        key.network = Network::Lid;
    }
    key.dest_qpn = packet.bth->dest_qpn;
    key.transport =
        packet.dceth ? wire::Transport::Dc : static_cast<wire::Transport>(packet.bth->opcode >> 5);
    if (packet.deth && key.transport == wire::Transport::Ud)
        key.src_qpn = packet.deth->src_qpn;
    return key;
}

StreamKey StreamKey::reversed(std::uint32_t qpn) const {
    StreamKey key = *this;
    key.src = dst;
    key.dst = src;
    key.dest_qpn = qpn;
    key.src_qpn = transport == wire::Transport::Ud ? dest_qpn : 0;
    return key;
}

std::uint64_t StreamKey::hash() const {
    const std::uint64_t rest = std::uint64_t{dest_qpn} << 32 | std::uint64_t{src_qpn} << 8 |
                               static_cast<std::uint64_t>(transport) << 4 |
                               static_cast<std::uint64_t>(network);
    const std::uint64_t hosts = mixed(src.low, dst.low) ^ mixed(src.high, dst.high);
    return mixed(hosts, rest);
}

// Folds the high and low half of a 128-bit product. The constants are the fractions of the square
// roots of 2 and 3; they change zeros.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a ^ 0x6a09e667f3bcc908) * (b ^ 0xbb67ae8584caa73b);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace flow
