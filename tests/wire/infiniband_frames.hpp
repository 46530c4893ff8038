// Packets of native InfiniBand for tests. Headers and CRCs are computed here bit by bit, without the
// code under test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/sample_frames.hpp"

namespace wire_test {

/// A CRC that is sent lowest bit first, in the order of the wire.
template <typename Number>
std::vector<std::byte> slow_crc(Number reversed_polynomial, util::Bytes bytes) {
    auto crc = static_cast<Number>(~Number{0});
    for (const std::byte byte : bytes) {
        crc = static_cast<Number>(crc ^ std::to_integer<Number>(byte));
        for (int bit = 0; bit < 8; ++bit)
            crc = static_cast<Number>(crc >> 1 ^ ((crc & 1U) != 0 ? reversed_polynomial : 0U));
    }
    crc = static_cast<Number>(~crc);
    std::vector<std::byte> sent;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        sent.push_back(static_cast<std::byte>(crc >> 8 * i));
    return sent;
}

inline void append(std::vector<std::byte>& bytes, util::Bytes more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

/// The fields of an LRH that a test chooses.
struct Link {
    std::uint8_t vl = 3;
    std::uint8_t sl = 5;
    std::uint16_t slid = 0x0123;
    std::uint16_t dlid = 0x0045;
};

/// Returns a native packet: an LRH, the GRH if there is one, `transport`, which is from the BTH to
/// the padding, the ICRC and the VCRC.
inline std::vector<std::byte> native_packet(util::Bytes transport,
                                            const std::optional<wire::Grh>& grh = {},
                                            const Link& link = {}) {
    constexpr std::size_t lrh_size = 8;
    constexpr std::size_t icrc_size = 4;
    const std::size_t network = lrh_size + (grh ? wire::Grh::size : 0);
    const std::size_t words = (network + transport.size() + icrc_size) / 4;
    std::vector<std::byte> frame;
    for (const unsigned byte :
         {unsigned{link.vl} << 4, unsigned{link.sl} << 4 | (grh ? 3U : 2U),
          unsigned{link.dlid} >> 8, link.dlid & 0xffU, static_cast<unsigned>(words >> 8),
          unsigned(words & 0xffU), unsigned{link.slid} >> 8, link.slid & 0xffU})
        frame.push_back(static_cast<std::byte>(byte));
    if (grh) {
        wire::Grh header = *grh;
        header.paylen = static_cast<std::uint16_t>(transport.size() + icrc_size);
        frame.resize(network);
        wire::write(header, std::span(frame).last<wire::Grh::size>());
    }
    append(frame, transport);
    std::vector<std::byte> masked = frame;
    const auto mask = [&](std::size_t at, unsigned bits) { masked[at] |= std::byte(bits); };
    if (grh) {
        for (std::size_t at = 0; at < lrh_size; ++at)
            mask(at, 0xff);
        mask(lrh_size, 0x0f);
        for (const std::size_t at : {1U, 2U, 3U, 7U})
            mask(lrh_size + at, 0xff);
    } else {
        mask(0, 0xf0);
    }
    mask(network + 4, 0xff);
    append(frame, slow_crc<std::uint32_t>(0xedb88320, masked));
    append(frame, slow_crc<std::uint16_t>(0xd008, frame));
    return frame;
}

/// Returns the bytes of a RoCE frame from the BTH to the padding.
inline util::Bytes transport_of(const wire::Packet& roce, util::Bytes frame) {
    const auto begin = roce.trail.find(wire::Header::Bth).begin;
    return frame.subspan(begin, roce.trail.find(wire::Header::Icrc).begin - begin);
}

/// Returns a packet of this opcode as it is sent on an InfiniBand link.
inline std::vector<std::byte> native_sample(const wire::OpcodeInfo& opcode, bool has_grh,
                                            std::size_t payload = 20) {
    const auto packet = sample_packet(opcode, Network::Grh, payload);
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, wire::LinkType::Ethernet);
    return native_packet(transport_of(decoded, frame), has_grh ? packet.grh : std::nullopt);
}

/// Returns a management datagram to queue pair `qpn`, from the same one.
inline std::vector<std::byte> native_mad(const wire::Mad& mad, util::Bytes data,
                                         std::uint32_t qpn) {
    std::vector<std::byte> datagram(wire::Mad::datagram_size);
    wire::write(mad, std::span(datagram).first<wire::Mad::size>());
    std::copy(data.begin(), data.end(), datagram.begin() + wire::Mad::size);
    auto packet = cm_packet(datagram, Network::Grh);
    packet.bth->dest_qpn = qpn;
    packet.deth = wire::Deth{.q_key = qpn == 0 ? 0 : wire::gsi_q_key, .src_qpn = qpn};
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, wire::LinkType::Ethernet);
    const auto vl = static_cast<std::uint8_t>(qpn == 0 ? 15 : 0);
    return native_packet(transport_of(decoded, frame), {}, {.vl = vl, .sl = 0});
}

/// Returns an ERF record, padded to a multiple of eight bytes; `type` has bit 7 set if `extensions`
/// is not empty.
inline std::vector<std::byte> erf_record(std::uint8_t type, util::Bytes frame,
                                         util::Bytes extensions = {}) {
    const std::size_t size = (16 + extensions.size() + frame.size() + 7) / 8 * 8;
    auto record = from_hex("0000000012345678");
    for (const std::size_t byte :
         {std::size_t{type}, std::size_t{4}, size >> 8, size & 0xffU, std::size_t{0},
          std::size_t{7}, frame.size() >> 8, frame.size() & 0xffU})
        record.push_back(static_cast<std::byte>(byte));
    append(record, extensions);
    append(record, frame);
    record.resize(size);
    return record;
}

}  // namespace wire_test
