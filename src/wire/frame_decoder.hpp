// Decodes the layers before the BTH, for the decoder only. decode_link.cpp has the link layer,
// decode_infiniband.cpp that of InfiniBand, decode_ip.cpp the network layer and UDP. They are one class because an encapsulated packet begins
// with a link layer again. decode_outer.hpp has the headers of encapsulations, decode_transport.hpp
// everything from the BTH on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/decode_outer.hpp"
#include "wire/decode_transport.hpp"
#include "wire/frame_reader.hpp"
#include "wire/packet.hpp"

namespace wire {

class FrameDecoder {
  public:
    FrameDecoder(util::Bytes frame, std::size_t original_length, IcrcCheck icrc, RocePorts ports,
                 Packet& packet)
        : reader_(frame, original_length, packet), icrc_(icrc), ports_(ports), packet_(packet) {}

    /// Decodes the whole frame.
    void whole(LinkType type);

  private:
    // decode_link.cpp
    void link(LinkType type);
    void ethernet();
    template <std::size_t N>
    void cooked(LinuxCooked (*parse)(util::FixedBytes<N>));
    void raw_ip();
    void network(std::uint16_t type);
    [[gnu::noinline]] void other_type(std::uint16_t type);
    void vlan();
    void llc(std::uint16_t length);
    void mac_control();
    void inner(const Inner& inner);

    // decode_infiniband.cpp
    [[gnu::noinline]] void erf();
    [[gnu::noinline]] void infiniband();
    void raw();

    // decode_ip.cpp. `fragmented`: the IP version if this is the first of several fragments,
    // otherwise empty.
    void begin_network(IcrcLayout layout);
    void ipv4();
    void ipv6();
    void ipv6_next(std::uint8_t next);
    [[gnu::noinline]] void behind_ip(std::uint8_t protocol, std::string_view fragmented);
    std::optional<std::uint8_t> ip_extension(std::uint8_t protocol);
    void other_protocol(std::uint8_t protocol);
    void grh();
    void udp(std::string_view fragmented);
    void roce_v2(const Udp& udp, std::string_view fragmented);
    [[gnu::noinline]] void other_port(const Udp& udp, std::string_view fragmented);
    void udp_length(std::size_t length);

    /// Discards earlier faults: only RoCE packets are reported as malformed.
    void not_roce(NotRoce reason) {
        packet_.not_roce = reason;
        packet_.malformed.reset();
    }

    FrameReader reader_;
    IcrcCheck icrc_;
    RocePorts ports_;
    IcrcCover cover_;
    Packet& packet_;
};

}  // namespace wire
