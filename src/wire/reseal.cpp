#include "wire/reseal.hpp"

#include <optional>
#include <string_view>

#include "wire/header_span.hpp"
#include "wire/ip.hpp"
#include "wire/packet.hpp"

namespace wire {
namespace {

void put16(std::span<std::byte> bytes, std::size_t at, std::uint16_t value) {
    util::put_be16<0>(bytes.subspan(at).first<2>(), value);
}

class Sealer {
  public:
    explicit Sealer(std::span<std::byte> frame)
        : frame_(frame),
          packet_(decode(frame, LinkType::Ethernet, frame.size(), IcrcCheck::Skip)),
          spans_(header_spans(packet_, frame)) {}

    void ip_checksum() {
        constexpr std::size_t checksum_at = 10;
        const auto ip = find("ip");
        if (!ip)
            return;
        put16(*ip, checksum_at, 0);
        put16(*ip, checksum_at, internet_checksum(ones_sum(*ip)));
    }

    void icrc() {
        const auto network = find(packet_.ipv4 ? "ip" : packet_.ipv6 ? "ipv6" : "grh");
        const auto icrc = find("icrc");
        if (!network || !icrc || icrc->size() != icrc_size || has_options(*network))
            return;
        const IcrcLayout layout = packet_.ipv4   ? IcrcLayout::Ipv4Udp
                                  : packet_.ipv6 ? IcrcLayout::Ipv6Udp
                                                 : IcrcLayout::Grh;
        const util::Bytes covered(network->data(), icrc->data());
        if (const auto value = compute_icrc(layout, covered))
            util::put_be32<0>(icrc->first<icrc_size>(), *value);
    }

    // Must be last: it covers the ICRC.
    void udp_checksum() {
        constexpr std::size_t checksum_at = 6;
        constexpr std::uint16_t zero_as_sent = 0xffff;  // 0 means "no checksum"
        const auto ip = find(packet_.ipv4 ? "ip" : "ipv6");
        const auto udp = find("udp");
        if (!ip || !udp || packet_.udp->checksum == 0)
            return;
        const auto datagram = frame_.subspan(static_cast<std::size_t>(udp->data() - frame_.data()));
        if (datagram.size() < packet_.udp->length)
            return;
        const auto covered = datagram.first(packet_.udp->length);
        put16(covered, checksum_at, 0);
        // Pseudo-header: addresses, protocol and length (RFC 768; RFC 8200, 8.1).
        const util::Bytes addresses =
            packet_.ipv4 ? util::Bytes(*ip).subspan(12, 8) : util::Bytes(*ip).subspan(8, 32);
        const std::uint16_t checksum = internet_checksum(ones_sum(addresses) + ip_protocol::udp +
                                                         covered.size() + ones_sum(covered));
        put16(covered, checksum_at, checksum == 0 ? zero_as_sent : checksum);
    }

  private:
    // No specification says what the ICRC covers with IPv4 options or IPv6 extension headers.
    bool has_options(util::Bytes network) const {
        return network.size() != (packet_.ipv4 ? Ipv4::size : Ipv6::size);
    }

    std::optional<std::span<std::byte>> find(std::string_view name) const {
        for (const HeaderSpan& span : spans_)
            if (wire::name(span.header) == name)
                return frame_.subspan(span.offset, span.length);
        return std::nullopt;
    }

    std::span<std::byte> frame_;
    Packet packet_;
    std::vector<HeaderSpan> spans_;
};

}  // namespace

void reseal(std::span<std::byte> frame, IcrcAfter icrc) {
    Sealer sealer(frame);
    sealer.ip_checksum();
    if (icrc == IcrcAfter::Good)
        sealer.icrc();
    sealer.udp_checksum();
}

}  // namespace wire
