// The transport headers, the payload, and the messages of the connection manager.
#include <array>

#include "anonymize/subject.hpp"
#include "wire/cm.hpp"
#include "wire/each_header.hpp"

namespace anonymize {
namespace {

using wire::CmAttribute;
using wire::Header;

void replace_memory(const Subject& subject) {
    const auto replace = [&](auto& header) {
        header.va = subject.pseudonyms.va(header.rkey, header.va);
        header.rkey = subject.pseudonyms.rkey(header.rkey);
    };
    subject.change<wire::Reth>(replace);
    subject.change<wire::AtomicEth>(replace);
    subject.change<wire::Ieth>(
        [&](wire::Ieth& ieth) { ieth.rkey = subject.pseudonyms.rkey(ieth.rkey); });
    subject.change<wire::Deth>(
        [&](wire::Deth& deth) { deth.q_key = subject.pseudonyms.q_key(deth.q_key); });
}

// The destination and the PSN: retransmissions have the same one.
std::uint64_t context_of(const Subject& subject) {
    const wire::Packet& packet = subject.packet;
    const std::uint64_t place = std::uint64_t{packet.bth->dest_qpn} << 32 | packet.bth->psn.value();
    const auto of = [&](const auto& address) {
        return subject.pseudonyms.hash(place, std::as_bytes(std::span(address.bytes)));
    };
    return packet.ipv4   ? of(packet.ipv4->dst)
           : packet.ipv6 ? of(packet.ipv6->dst)
           : packet.grh  ? of(packet.grh->dgid)
                         : place;
}

void replace_data(const Subject& subject) {
    const std::uint64_t context = context_of(subject);
    subject.pseudonyms.stand_in(subject.part(Header::Payload), context);
    zero(subject.part(Header::Padding));
    subject.pseudonyms.stand_in(subject.part(Header::ImmDt), context);
    subject.pseudonyms.stand_in(subject.part(Header::AtomicAckEth), context);
    constexpr std::size_t operands = wire::place_of<&wire::AtomicEth::swapdt>.bit / 8;
    subject.pseudonyms.stand_in(from(subject.part(Header::AtomicEth), operands), context);
}

// Where a message has what must be replaced. 0: nowhere.
struct CmParts {
    CmAttribute attribute{};
    std::size_t private_data = 0;
    std::size_t information = 0;  // additional information, up to the private data: may have a GID
    std::size_t guid = 0;
    std::size_t q_key = 0;
    std::array<std::size_t, 4> gids{};
};

template <typename Message>
constexpr CmParts parts_of(CmParts parts) {
    parts.attribute = Message::attribute;
    parts.private_data = wire::place_of<&Message::private_data>.bit / 8;
    return parts;
}

// Offsets in bytes: IBTA volume 1, 12.6; Linux include/rdma/ibta_vol1_c12.h.
constexpr std::array cm_parts{
    parts_of<wire::CmReq>({.guid = 16, .q_key = 28, .gids = {56, 72, 100, 116}}),
    parts_of<wire::CmMra>({}),
    parts_of<wire::CmRej>({.information = 12}),
    parts_of<wire::CmRep>({.guid = 28, .q_key = 8}),
    parts_of<wire::CmRtu>({}),
    parts_of<wire::CmDreq>({}),
    parts_of<wire::CmDrep>({}),
    parts_of<wire::CmSidrReq>({}),
    parts_of<wire::CmSidrRep>({.information = 24, .q_key = 20}),
    parts_of<wire::CmLap>({.gids = {24, 40}}),
    parts_of<wire::CmApr>({.information = 12}),
};

bool has_ip_cm(const wire::Cm& cm) {
    const auto* req = cm.as<wire::CmReq>();
    const auto* sidr = cm.as<wire::CmSidrReq>();
    return (req != nullptr && req->ip_cm) || (sidr != nullptr && sidr->ip_cm);
}

// Returns the rest of the private data.
MutableBytes replace_ip_cm(const Subject& subject, MutableBytes private_data) {
    const auto bytes = private_data.first<wire::IpCm::size>();
    const auto header = wire::parse<wire::IpCm>(bytes);
    for (const std::size_t at : {std::size_t{wire::place_of<&wire::IpCm::src>.bit / 8},
                                 std::size_t{wire::place_of<&wire::IpCm::dst>.bit / 8}}) {
        constexpr std::size_t zeros = wire::Ipv6Address::size - wire::Ipv4Address::size;
        if (header.ip_version == 4) {
            zero(bytes.subspan(at, zeros));
            subject.address<wire::Ipv4Address>(bytes, at + zeros);
        } else {
            subject.address<wire::Ipv6Address>(bytes, at);
        }
    }
    return private_data.subspan(wire::IpCm::size);
}

void replace_cm(const Subject& subject) {
    const MutableBytes message = subject.part(Header::Cm);
    const wire::Cm& cm = *subject.packet.cm;
    const auto* parts = std::ranges::find(cm_parts, cm.attribute, &CmParts::attribute);
    if (parts == cm_parts.end())
        return zero(message);
    Pseudonyms& pseudonyms = subject.pseudonyms;
    if (parts->guid != 0) {
        const auto bytes = message.subspan(parts->guid).first<8>();
        util::put_be64<0>(bytes, pseudonyms.guid(util::be64<0>(util::FixedBytes<8>(bytes))));
    }
    if (parts->q_key != 0) {
        const auto bytes = message.subspan(parts->q_key).first<4>();
        util::put_be32<0>(bytes, pseudonyms.q_key(util::be32<0>(util::FixedBytes<4>(bytes))));
    }
    for (const std::size_t gid : parts->gids)
        if (gid != 0)
            subject.address<wire::Gid>(message, gid);
    if (parts->information != 0)
        zero(message.subspan(parts->information, parts->private_data - parts->information));
    MutableBytes data = message.subspan(parts->private_data);
    if (has_ip_cm(cm))
        data = replace_ip_cm(subject, data);
    if (subject.data == Data::Replaced)
        zero(data);
}

}  // namespace

void replace_transport(const Subject& subject) {
    const wire::Packet& packet = subject.packet;
    if (!packet.bth)
        return;
    replace_memory(subject);
    // The layout is not published. The first byte distinguishes the header from an RDETH.
    if (packet.dceth)
        subject.pseudonyms.stand_in(subject.part(Header::Dceth).subspan(1), 0);
    zero(subject.part(Header::CnpReserved));
    if (packet.mad) {
        if (packet.cm)
            replace_cm(subject);
        zero(subject.part(Header::Payload));
    } else if (subject.data == Data::Replaced) {
        replace_data(subject);
    }
}

}  // namespace anonymize
