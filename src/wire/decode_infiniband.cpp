// Decodes native InfiniBand packets and ERF records.
#include "util/in_place.hpp"
#include "wire/frame_decoder.hpp"

namespace wire {

void FrameDecoder::erf() {
    const auto bytes = reader_.take<Erf::size>("ERF header", Header::Erf);
    if (!bytes)
        return;
    const Erf& erf = util::emplace_result(packet_.erf, [&] { return parse<Erf>(*bytes); });
    for (bool has_more = erf.has_extension; has_more;) {
        const auto extension =
            reader_.take<Erf::extension_size>("ERF extension header", Header::Erf);
        if (!extension)
            return;
        has_more = (util::be8<0>(*extension) & 0x80U) != 0;
    }
    if (erf.is_ethernet()) {
        // The capture card's offset, and padding.
        if (!reader_.take<2>("ERF Ethernet header", Header::Erf))
            return;
    }
    // A record is padded to a multiple of eight bytes.
    if (erf.wlen < reader_.left())
        reader_.end_after(erf.wlen);
    if (erf.is_ethernet())
        return ethernet();
    switch (erf.type) {
        case erf_type::infiniband:
            return infiniband();
        case erf_type::infiniband_link:
            return not_roce(NotRoce::InfinibandLink);
        case erf_type::ipv4:
        case erf_type::ipv6:
            return raw_ip();
        default:
            return not_roce(NotRoce::OtherErf);
    }
}

void FrameDecoder::infiniband() {
    begin_network(IcrcLayout::Lrh);
    const std::size_t begin = reader_.at();
    const util::Bytes frame = reader_.rest();
    const auto bytes = reader_.take<Lrh::size>("LRH", Header::Lrh);
    if (!bytes)
        return;
    const Lrh& lrh = util::emplace_result(packet_.lrh, [&] { return parse<Lrh>(*bytes); });
    if (lrh.lver != 0)
        reader_.fault(Fault::LinkVersion, "LRH", lrh.lver);
    const std::size_t length = lrh.packet_length();
    if (length < Lrh::size)
        return reader_.fault(Fault::LengthTooSmall, "LRH", length, Lrh::size);
    reader_.end_after(length - Lrh::size);
    switch (lrh.lnh) {
        case link_next_header::local:
            decode_transport(reader_, cover_, packet_);
            break;
        case link_next_header::global:
            grh();
            break;
        case link_next_header::ipv6:
            not_roce(NotRoce::RawInfiniband);
            break;
        default:
            raw();
    }
    if (frame.size() < length + vcrc_size)
        return;
    Vcrc& vcrc = packet_.vcrc.emplace();
    vcrc.value = util::be16<0>(frame.subspan(length).first<vcrc_size>());
    if (icrc_ == IcrcCheck::Compute)
        vcrc.computed = compute_vcrc(frame.first(length));
    packet_.trail.put(Header::Vcrc, begin + length + vcrc_size);
}

void FrameDecoder::raw() {
    const auto bytes = reader_.take<Rwh::size>("RWH", Header::Rwh);
    if (!bytes)
        return;
    packet_.rwh = parse<Rwh>(*bytes);
    not_roce(NotRoce::RawInfiniband);
}

}  // namespace wire
