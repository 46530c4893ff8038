#include "wire/encode.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "wire/each_header.hpp"
#include "wire/reseal.hpp"

namespace wire {
namespace {

class Encoder {
  public:
    explicit Encoder(const Packet& packet)
        : packet_(packet),
          opcode_(
              (packet.dceth ? find_dc_opcode : find_opcode)(packet.bth ? packet.bth->opcode : 0)) {
        check();
    }

    std::vector<std::byte> frame() {
        link();
        network();
        udp();
        transport();
        trail_.put(Header::Padding, frame_.size());
        frame_.resize(frame_.size() + icrc_size);
        trail_.put(Header::Icrc, frame_.size());
        reseal(frame_, trail_, IcrcAfter::Good);
        return std::move(frame_);
    }

  private:
    void check() const {
        const int networks =
            packet_.ipv4.has_value() + packet_.ipv6.has_value() + packet_.grh.has_value();
        if (!packet_.bth || networks != 1)
            throw std::invalid_argument("wire::encode: needs a BTH and one of ipv4, ipv6 and grh");
        if (packet_.grh && !packet_.ethernet)
            throw std::invalid_argument("wire::encode: a GRH needs an Ethernet header before it");
        if (opcode_ != nullptr && !opcode_->carries_payload() && !packet_.payload.empty())
            throw std::invalid_argument("wire::encode: this opcode carries no payload");
        const std::size_t ip = packet_.ipv4 ? Ipv4::size : 0;
        if (ip + network_payload_size() > std::numeric_limits<std::uint16_t>::max())
            throw std::invalid_argument("wire::encode: longer than an IP packet can be");
    }

    void link() {
        if (!packet_.ethernet)
            return;
        const std::uint16_t inner = packet_.ipv4   ? ether_type::ipv4
                                    : packet_.ipv6 ? ether_type::ipv6
                                                   : ether_type::roce_v1;
        Ethernet ethernet = *packet_.ethernet;
        const std::size_t tags = packet_.vlans.count;
        ethernet.type = tags == 0 ? inner : tags == 1 ? ether_type::vlan : ether_type::service_vlan;
        append(ethernet);
        for (std::size_t i = 0; i < tags; ++i) {
            Vlan tag = packet_.vlans.tags[i];
            tag.type = i + 1 < tags ? ether_type::vlan : inner;
            append(tag);
        }
    }

    void network() {
        const auto length = static_cast<std::uint16_t>(network_payload_size());
        if (packet_.ipv4) {
            Ipv4 ip = *packet_.ipv4;
            ip.version = 4;
            ip.header_length = Ipv4::size;
            ip.total_length = static_cast<std::uint16_t>(Ipv4::size + length);
            ip.protocol = ip_protocol::udp;
            append(ip);
        } else if (packet_.ipv6) {
            Ipv6 ip = *packet_.ipv6;
            ip.version = 6;
            ip.payload_length = length;
            ip.next_header = ip_protocol::udp;
            append(ip);
        } else {
            Grh grh = *packet_.grh;
            grh.ipver = 6;
            grh.paylen = length;
            grh.nxthdr = ip_protocol::iba;
            append(grh);
        }
    }

    void udp() {
        if (packet_.grh)
            return;
        Udp udp = packet_.udp.value_or(Udp{});
        udp.length = static_cast<std::uint16_t>(network_payload_size());
        udp.checksum = 0xffff;  // reseal() computes it unless it is 0
        append(udp);
    }

    void transport() {
        Bth bth = *packet_.bth;
        bth.padcnt = static_cast<std::uint8_t>(padding());
        append(bth);
        if (opcode_ != nullptr) {
            const auto add = [&]<typename T>(HeaderMask bit, std::string_view,
                                             const std::optional<T>& header) {
                if (opcode_->has(bit))
                    append(header.value_or(T{}));
                return true;
            };
            for_each_extension_header(packet_, add);
            if (opcode_->has(header::cnp_reserved))
                frame_.resize(frame_.size() + cnp_reserved_size);
        }
        frame_.insert(frame_.end(), packet_.payload.begin(), packet_.payload.end());
        frame_.resize(frame_.size() + padding());
    }

    std::size_t padding() const { return (4 - packet_.payload.size() % 4) % 4; }

    /// From the UDP header (GRH: from the BTH) to the ICRC.
    std::size_t network_payload_size() const {
        return (packet_.grh ? 0 : Udp::size) + Bth::size +
               (opcode_ == nullptr ? 0 : headers_size(opcode_->headers)) + packet_.payload.size() +
               padding() + icrc_size;
    }

    template <typename T>
    void append(const T& header) {
        frame_.resize(frame_.size() + T::size);
        write(header, std::span(frame_).template last<T::size>());
        trail_.put(T::Fields::header, frame_.size());
    }

    const Packet& packet_;
    const OpcodeInfo* opcode_;
    std::vector<std::byte> frame_;
    Trail trail_;
};

}  // namespace

std::vector<std::byte> encode(const Packet& packet) {
    return Encoder(packet).frame();
}

}  // namespace wire
