#include "wire/decode_transport.hpp"

#include <algorithm>

#include "util/in_place.hpp"
#include "wire/each_header.hpp"

namespace wire {
namespace {

using namespace std::string_view_literals;

/// The first byte of an RDETH is reserved, and senders write 0. If the capture ends with the BTH
/// and the packet has room for a DC header, DC is assumed, since no adapter sends RD.
bool has_dc_header(const Bth& bth, const FrameReader& behind_bth) {
    if (!is_rd_or_dc_opcode(bth.opcode))
        return false;
    const util::Bytes bytes = behind_bth.rest();
    return bytes.empty() ? behind_bth.left() >= Dceth::size : bytes.front() != std::byte{0};
}

/// `behind_bth`: bytes on the wire.
std::size_t payload_without_headers(const Packet& packet, std::size_t behind_bth) {
    const std::size_t others =
        headers_size(packet.opcode->headers) + packet.bth->padcnt + icrc_size;
    return behind_bth > others ? behind_bth - others : 0;
}

/// Returns false if decoding cannot continue; the packet then has the reason.
bool decode_headers(FrameReader& reader, Packet& packet) {
    const auto bytes = reader.take<Bth::size>("BTH", Header::Bth);
    if (!bytes)
        return false;
    const Bth& bth = util::emplace_result(packet.bth, [&] { return parse<Bth>(*bytes); });
    if (bth.tver != 0)
        reader.fault(Fault::TransportVersion, "BTH", bth.tver);

    const bool is_dc = has_dc_header(bth, reader);
    packet.opcode = is_dc ? find_dc_opcode(bth.opcode) : find_opcode(bth.opcode);
    if (packet.opcode == nullptr && !is_dc) {
        if (!is_manufacturer_opcode(bth.opcode))
            reader.fault(Fault::ReservedOpcode, "BTH", bth.opcode);
        return true;
    }
    const HeaderMask headers = packet.opcode != nullptr ? packet.opcode->headers : header::dceth;

    const auto take = [&]<typename Extension>(HeaderMask bit, std::string_view name,
                                              std::optional<Extension>& header) {
        if ((headers & bit) == 0)
            return true;
        if (const auto taken = reader.take<Extension::size>(name, extension_header(bit)))
            util::emplace_result(header, [&] { return parse<Extension>(*taken); });
        return header.has_value();
    };
    const std::size_t behind_bth = reader.left();
    if (!for_each_extension_header(packet, take)) {
        if (packet.truncated && packet.opcode != nullptr && reader.end_is_known() &&
            reader.end() != FrameReader::unknown_end)
            packet.payload_length = payload_without_headers(packet, behind_bth);
        return false;
    }
    if ((headers & header::cnp_reserved) == 0)
        return true;
    packet.trail.put(Header::CnpReserved, std::min(reader.at() + cnp_reserved_size, reader.end()));
    return reader.skip(cnp_reserved_size, "CNP reserved field");
}

/// Returns the number of padding bytes after the payload.
std::size_t decode_payload(FrameReader& reader, Packet& packet, std::size_t with_padding) {
    std::size_t padding = packet.bth->padcnt;
    if (padding > with_padding) {
        reader.fault(Fault::PadCount, "BTH", padding, with_padding);
        padding = 0;
    }
    packet.payload_length = with_padding - padding;
    packet.payload = reader.rest().first(std::min(packet.payload_length, reader.rest().size()));
    if (packet.opcode != nullptr && !packet.opcode->carries_payload() && with_padding != 0)
        reader.fault(Fault::UnexpectedPayload, "BTH", with_padding);
    return padding;
}

/// Management datagrams: UD SENDs to queue pair 1, and to queue pair 0 in native InfiniBand.
bool is_management(const Packet& packet) {
    return packet.opcode != nullptr && packet.opcode->transport() == Transport::Ud &&
           (packet.bth->dest_qpn == gsi_qpn || (packet.bth->dest_qpn == smi_qpn && packet.lrh));
}

/// `data`: what follows the MAD header, at offset `at` of the frame.
void decode_smp(util::Bytes data, std::size_t at, Packet& packet) {
    if (data.size() < Smp::size)
        return;
    packet.smp = parse<Smp>(data.first<Smp::size>());
    packet.trail.put(Header::Smp, at + Smp::size);
}

void decode_mad(FrameReader& reader, Packet& packet) {
    if (!is_management(packet))
        return;
    if (packet.payload_length < Mad::datagram_size)
        reader.fault(Fault::TooShort, "MAD", Mad::datagram_size, packet.payload_length);
    util::Cursor payload(packet.payload);
    const auto common = payload.take<Mad::size>();
    if (!common)
        return;
    packet.mad = parse<Mad>(*common);
    packet.trail.put(Header::Mad, reader.at() + Mad::size);
    if (packet.bth->dest_qpn == smi_qpn && packet.mad->is_smp())
        return decode_smp(payload.rest(), reader.at() + Mad::size, packet);
    const auto data = payload.take<Mad::data_size>();
    if (!data || !packet.mad->is_cm())
        return;
    packet.cm = Cm::parse(packet.mad->attribute_id, *data);
    packet.trail.put(Header::Cm, reader.at() + Mad::size + Mad::data_size);
}

/// `covered`: captured bytes from the network header to the last byte before the ICRC.
void check_icrc(util::FixedBytes<icrc_size> trailer, util::Bytes covered, const IcrcCover& cover,
                Icrc& icrc) {
    icrc.value = util::be32<0>(trailer);
    icrc.reason = cover.unchecked;
    if (!icrc.reason.empty())
        return;
    icrc.computed = compute_icrc(cover.layout, covered);
    icrc.status = icrc.computed == icrc.value ? IcrcStatus::Good : IcrcStatus::Bad;
}

}  // namespace

void decode_transport(FrameReader& reader, const IcrcCover& cover, Packet& packet) {
    if (!decode_headers(reader, packet))
        return;
    if (!reader.end_is_known()) {
        packet.payload = reader.rest();
        packet.payload_length = reader.left();
        packet.trail.put(Header::Payload, reader.end());
        packet.icrc.emplace().reason = "the packet's end is not in the frame"sv;
        return;
    }
    if (reader.left() < icrc_size) {
        reader.fault(Fault::TooShort, "ICRC", icrc_size, reader.left());
        return;
    }
    const std::size_t padding = decode_payload(reader, packet, reader.left() - icrc_size);
    decode_mad(reader, packet);
    packet.trail.put(Header::Payload, reader.at() + packet.payload_length);
    packet.trail.put(Header::Padding, reader.end() - icrc_size);
    packet.trail.put(Header::Icrc, reader.end());
    Icrc& icrc = packet.icrc.emplace();
    if (packet.payload.size() < packet.payload_length)
        reader.truncated("payload", packet.payload_length, packet.payload.size());
    else if (reader.skip(packet.payload_length, "payload") && reader.skip(padding, "padding")) {
        const auto covered = reader.taken().subspan(cover.begin);
        if (const auto trailer = reader.take<icrc_size>("ICRC"))
            check_icrc(*trailer, covered, cover, icrc);
    }
    if (packet.truncated)
        icrc.reason = packet.truncated->reason();
}

}  // namespace wire
