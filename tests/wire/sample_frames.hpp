// Packets for tests: of every opcode, over every network, with a different value in every field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "wire/encode.hpp"
#include "wire/packet.hpp"

namespace wire_test {

/// Converts pairs of hexadecimal digits to bytes; skips all other characters.
inline std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    unsigned digits = 0;
    unsigned value = 0;
    for (const char c : text) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(c >= 'a' && c <= 'f'))
            continue;
        value = value << 4 | static_cast<unsigned>(is_digit ? c - '0' : c - 'a' + 10);
        if (++digits % 2 == 0)
            bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

/// A heap copy of exactly the size of its contents: AddressSanitizer detects a read past its end.
class ExactCopy {
  public:
    explicit ExactCopy(util::Bytes bytes)
        : size_(bytes.size()), bytes_(std::make_unique<std::byte[]>(bytes.size())) {
        std::copy(bytes.begin(), bytes.end(), bytes_.get());
    }
    operator util::Bytes() const { return {bytes_.get(), size_}; }

  private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> bytes_;
};

/// Returns bytes 0x11, 0x12, ..., which stay valid until the program ends.
inline util::Bytes sample_payload(std::size_t size) {
    static const std::vector<std::byte> bytes = [] {
        std::vector<std::byte> made(4096);
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = static_cast<std::byte>(0x11 + i);
        return made;
    }();
    return util::Bytes(bytes).first(size);
}

enum class Network { Ipv4, Ipv6, Grh };
inline constexpr Network all_networks[] = {Network::Ipv4, Network::Ipv6, Network::Grh};

inline void set_network(wire::Packet& packet, Network network) {
    packet.ethernet = wire::Ethernet{
        .dst = {{0x02, 0, 0, 0, 0, 0x01}}, .src = {{0x02, 0, 0, 0, 0, 0x02}}, .type = 0};
    const wire::Ipv6Address src{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
    const wire::Ipv6Address dst{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    if (network == Network::Grh) {
        packet.grh = wire::Grh{.tclass = 0x6a, .flowlabel = 0xabcde, .sgid = src, .dgid = dst};
        return;
    }
    packet.udp = wire::Udp{.src_port = 0xc123};
    if (network == Network::Ipv4)
        packet.ipv4 = wire::Ipv4{.dsfield = 0x6a,
                                 .id = 0x1234,
                                 .df = true,
                                 .ttl = 63,
                                 .src = {{192, 0, 2, 2}},
                                 .dst = {{192, 0, 2, 1}}};
    else
        packet.ipv6 = wire::Ipv6{
            .tclass = 0x6a, .flow_label = 0xabcde, .hop_limit = 63, .src = src, .dst = dst};
}

/// Returns all opcodes, including those of DC.
inline std::vector<wire::OpcodeInfo> all_opcodes() {
    std::vector<wire::OpcodeInfo> all(wire::opcodes().begin(), wire::opcodes().end());
    all.insert(all.end(), wire::dc_opcodes().begin(), wire::dc_opcodes().end());
    return all;
}

/// Returns a packet with the extension headers of the opcode, and `payload_size` bytes of payload
/// if the opcode carries payload.
inline wire::Packet sample_packet(const wire::OpcodeInfo& opcode, Network network,
                                  std::size_t payload_size) {
    wire::Packet packet;
    set_network(packet, network);
    packet.bth = wire::Bth{.opcode = opcode.value,
                           .se = true,
                           .m = true,
                           .p_key = 0xffff,
                           .becn = true,
                           .dest_qpn = 0x012345,
                           .a = true,
                           .psn = wire::Psn(0xfffffe)};
    if (opcode.has(wire::header::rdeth))
        packet.rdeth = wire::Rdeth{.eecnxt = 0x0a0b0c};
    if (opcode.has(wire::header::dceth))
        packet.dceth = wire::Dceth{.bytes = {std::byte{0x10}, {}, {}, {}, std::byte{0x5a}}};
    if (opcode.has(wire::header::deth))
        packet.deth = wire::Deth{.q_key = 0x11223344, .src_qpn = 0x0d0e0f};
    if (opcode.has(wire::header::xrceth))
        packet.xrceth = wire::Xrceth{.xrcsrq = 0x1a1b1c};
    if (opcode.has(wire::header::feth))
        packet.feth = wire::Feth{.plt = 3, .sel = 1};
    if (opcode.has(wire::header::reth))
        packet.reth = wire::Reth{.va = 0x7f00112233445566, .rkey = 0xdeadbeef, .dmalen = 0x10203};
    if (opcode.has(wire::header::atomic_eth))
        packet.atomic_eth = wire::AtomicEth{.va = 0x7f00112233445568,
                                            .rkey = 0xcafebabe,
                                            .swapdt = 0x0102030405060708,
                                            .cmpdt = 0x1112131415161718};
    if (opcode.has(wire::header::aeth))
        packet.aeth = wire::Aeth{.syndrome = 0x1f, .msn = 0x2a2b2c};
    if (opcode.has(wire::header::atomic_ack_eth))
        packet.atomic_ack_eth = wire::AtomicAckEth{.origremdt = 0x2122232425262728};
    if (opcode.has(wire::header::immdt))
        packet.immdt = wire::ImmDt{.value = 0x31323334};
    if (opcode.has(wire::header::ieth))
        packet.ieth = wire::Ieth{.rkey = 0x41424344};
    if (opcode.carries_payload())
        packet.payload = sample_payload(payload_size);
    return packet;
}

/// Returns the 256 bytes of a MAD of the connection manager.
inline std::vector<std::byte> cm_mad(wire::CmAttribute attribute, util::Bytes data) {
    std::vector<std::byte> mad(wire::Mad::datagram_size);
    const wire::Mad common{.mgmt_class = wire::mgmt_class::communication,
                           .class_version = 2,
                           .method = 3,
                           .transaction_id = 0x5152535455565758,
                           .attribute_id = static_cast<std::uint16_t>(attribute)};
    wire::write(common, std::span(mad).first<wire::Mad::size>());
    std::copy(data.begin(), data.end(), mad.begin() + wire::Mad::size);
    return mad;
}

/// Returns the UD SEND to queue pair 1 that carries the MAD. `mad` must outlive the result.
inline wire::Packet cm_packet(util::Bytes mad, Network network) {
    wire::Packet packet;
    set_network(packet, network);
    packet.bth = wire::Bth{.opcode = wire::ud_send_only_opcode,
                           .p_key = 0xffff,
                           .dest_qpn = wire::gsi_qpn,
                           .psn = wire::Psn(7)};
    packet.deth = wire::Deth{.q_key = wire::gsi_q_key, .src_qpn = wire::gsi_qpn};
    packet.payload = mad;
    return packet;
}

}  // namespace wire_test
