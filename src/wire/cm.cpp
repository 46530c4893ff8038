#include "wire/cm.hpp"

#include <algorithm>
#include <array>

namespace wire {

namespace {

Ipv4Address last_four_bytes(const Ipv6Address& address) {
    Ipv4Address ipv4;
    std::ranges::copy_n(address.bytes.begin() + 12, 4, ipv4.bytes.begin());
    return ipv4;
}

}  // namespace

std::optional<IpService> IpService::of(std::uint64_t service_id) {
    constexpr std::uint64_t rdma_ip_cm = 1;  // annex A11.2: the first five bytes are 00 00 00 00 01
    if (service_id >> 24 != rdma_ip_cm)
        return std::nullopt;
    return IpService{
        .protocol = static_cast<std::uint8_t>(service_id >> 16 & 0xffU),
        .port = static_cast<std::uint16_t>(service_id & 0xffffU),
    };
}

Ipv4Address IpCm::src_ipv4() const {
    return last_four_bytes(src);
}

Ipv4Address IpCm::dst_ipv4() const {
    return last_four_bytes(dst);
}

IpCm IpCm::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t version = util::be8<0>(bytes);
    return {
        .major_version = static_cast<std::uint8_t>(version >> 4),
        .minor_version = static_cast<std::uint8_t>(version & 0xfU),
        .ip_version = static_cast<std::uint8_t>(util::be8<1>(bytes) >> 4),
        .src_port = util::be16<2>(bytes),
        .src = Ipv6Address::at<4>(bytes),
        .dst = Ipv6Address::at<20>(bytes),
    };
}

std::optional<IpCm> IpCm::take_from(const std::optional<IpService>& service,
                                    util::Bytes& private_data) {
    util::Cursor cursor(private_data);
    const auto bytes = cursor.take<size>();
    if (!service || !bytes)
        return std::nullopt;
    const IpCm header = parse(*bytes);
    if (header.major_version != 0 || (header.ip_version != 4 && header.ip_version != 6))
        return std::nullopt;
    private_data = cursor.rest();
    return header;
}

namespace {

constexpr std::size_t private_data_at = 140;

}  // namespace

CmPath CmPath::parse(util::FixedBytes<size> bytes) {
    const std::uint32_t flow_and_rate = util::be32<36>(bytes);
    const std::uint8_t sl = util::be8<42>(bytes);
    return {
        .local_lid = util::be16<0>(bytes),
        .remote_lid = util::be16<2>(bytes),
        .local_gid = Gid::at<4>(bytes),
        .remote_gid = Gid::at<20>(bytes),
        .flow_label = flow_and_rate >> 12,
        .packet_rate = util::bits<0, 6>(flow_and_rate),
        .traffic_class = util::be8<40>(bytes),
        .hop_limit = util::be8<41>(bytes),
        .sl = util::bits<4, 4>(sl),
        .subnet_local = util::bits<3, 1>(sl) != 0,
        .local_ack_timeout = util::bits<3, 5>(util::be8<43>(bytes)),
    };
}

unsigned CmReq::path_mtu_bytes() const {
    return path_mtu >= 1 && path_mtu <= 5 ? 128U << path_mtu : 0;
}

CmReq CmReq::parse(util::FixedBytes<Mad::data_size> bytes) {
    const std::uint8_t transport = util::be8<43>(bytes);
    const std::uint8_t retries = util::be8<47>(bytes);
    const std::uint8_t mtu = util::be8<50>(bytes);
    const std::uint8_t cm_retries = util::be8<51>(bytes);
    CmReq req{
        .local_comm_id = util::be32<0>(bytes),
        .service_id = util::be64<8>(bytes),
        .local_ca_guid = util::be64<16>(bytes),
        .local_q_key = util::be32<28>(bytes),
        .local_qpn = util::be24<32>(bytes),
        .responder_resources = util::be8<35>(bytes),
        .initiator_depth = util::be8<39>(bytes),
        .local_eecn = util::be24<36>(bytes),
        .remote_eecn = util::be24<40>(bytes),
        .remote_cm_response_timeout = util::bits<3, 5>(transport),
        .transport_service_type = util::bits<1, 2>(transport),
        .end_to_end_flow_control = util::bits<0, 1>(transport) != 0,
        .starting_psn = Psn(util::be24<44>(bytes)),
        .local_cm_response_timeout = util::bits<3, 5>(retries),
        .retry_count = util::bits<0, 3>(retries),
        .p_key = util::be16<48>(bytes),
        .path_mtu = util::bits<4, 4>(mtu),
        .rdc_exists = util::bits<3, 1>(mtu) != 0,
        .rnr_retry_count = util::bits<0, 3>(mtu),
        .max_cm_retries = util::bits<4, 4>(cm_retries),
        .srq = util::bits<3, 1>(cm_retries) != 0,
        .extended_transport = util::bits<0, 3>(cm_retries),
        .primary = CmPath::parse(bytes.subspan<52, CmPath::size>()),
        .alternate = CmPath::parse(bytes.subspan<96, CmPath::size>()),
        .ip_service = std::nullopt,
        .ip_cm = std::nullopt,
        .private_data = bytes.subspan<private_data_at>(),
    };
    req.ip_service = IpService::of(req.service_id);
    req.ip_cm = IpCm::take_from(req.ip_service, req.private_data);
    return req;
}

namespace {

using Data = util::FixedBytes<Mad::data_size>;

CmMra parse_mra(Data data) {
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .message_mraed = util::bits<6, 2>(util::be8<8>(data)),
        .service_timeout = util::bits<3, 5>(util::be8<9>(data)),
        .private_data = data.subspan<10>(),
    };
}

CmRej parse_rej(Data data) {
    const auto ari = data.subspan<12, 72>();
    const std::size_t ari_length = util::bits<1, 7>(util::be8<9>(data));
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .message_rejected = util::bits<6, 2>(util::be8<8>(data)),
        .reason = util::be16<10>(data),
        .ari = ari.first(std::min(ari_length, ari.size())),
        .private_data = data.subspan<84>(),
    };
}

CmRep parse_rep(Data data) {
    const std::uint8_t delay = util::be8<26>(data);
    const std::uint8_t retries = util::be8<27>(data);
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .local_q_key = util::be32<8>(data),
        .local_qpn = util::be24<12>(data),
        .local_eecn = util::be24<16>(data),
        .starting_psn = Psn(util::be24<20>(data)),
        .responder_resources = util::be8<24>(data),
        .initiator_depth = util::be8<25>(data),
        .target_ack_delay = util::bits<3, 5>(delay),
        .failover_accepted = util::bits<1, 2>(delay),
        .end_to_end_flow_control = util::bits<0, 1>(delay) != 0,
        .rnr_retry_count = util::bits<5, 3>(retries),
        .srq = util::bits<4, 1>(retries) != 0,
        .local_ca_guid = util::be64<28>(data),
        .private_data = data.subspan<36>(),
    };
}

CmDreq parse_dreq(Data data) {
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .remote_qpn = util::be24<8>(data),
        .private_data = data.subspan<12>(),
    };
}

/// Parses RTU and DREP: only the two IDs and private data.
template <typename Message>
Message parse_ids(Data data) {
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .private_data = data.subspan<8>(),
    };
}

CmSidrReq parse_sidr_req(Data data) {
    CmSidrReq req{
        .request_id = util::be32<0>(data),
        .p_key = util::be16<4>(data),
        .service_id = util::be64<8>(data),
        .ip_service = std::nullopt,
        .ip_cm = std::nullopt,
        .private_data = data.subspan<16>(),
    };
    req.ip_service = IpService::of(req.service_id);
    req.ip_cm = IpCm::take_from(req.ip_service, req.private_data);
    return req;
}

CmSidrRep parse_sidr_rep(Data data) {
    return {
        .request_id = util::be32<0>(data),
        .status = util::be8<4>(data),
        .qpn = util::be24<8>(data),
        .service_id = util::be64<12>(data),
        .q_key = util::be32<20>(data),
        .private_data = data.subspan<96>(),
    };
}

CmLap parse_lap(Data data) {
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .remote_qpn = util::be24<12>(data),
        .alternate_local_gid = Gid::at<24>(data),
        .alternate_remote_gid = Gid::at<40>(data),
        .private_data = data.subspan<64>(),
    };
}

CmApr parse_apr(Data data) {
    return {
        .local_comm_id = util::be32<0>(data),
        .remote_comm_id = util::be32<4>(data),
        .status = util::be8<9>(data),
        .private_data = data.subspan<84>(),
    };
}

CmBody parse_body(CmAttribute attribute, Data data) {
    switch (attribute) {
        case CmAttribute::ConnectRequest:
            return CmReq::parse(data);
        case CmAttribute::MsgRcptAck:
            return parse_mra(data);
        case CmAttribute::ConnectReject:
            return parse_rej(data);
        case CmAttribute::ConnectReply:
            return parse_rep(data);
        case CmAttribute::ReadyToUse:
            return parse_ids<CmRtu>(data);
        case CmAttribute::DisconnectRequest:
            return parse_dreq(data);
        case CmAttribute::DisconnectReply:
            return parse_ids<CmDrep>(data);
        case CmAttribute::ServiceIdResReq:
            return parse_sidr_req(data);
        case CmAttribute::ServiceIdResReqResp:
            return parse_sidr_rep(data);
        case CmAttribute::LoadAlternatePath:
            return parse_lap(data);
        case CmAttribute::AlternatePathResponse:
            return parse_apr(data);
        case CmAttribute::ClassPortInfo:
            break;
    }
    return std::monostate{};
}

}  // namespace

Cm Cm::parse(std::uint16_t attribute_id, util::FixedBytes<Mad::data_size> data) {
    const auto attribute = static_cast<CmAttribute>(attribute_id);
    return {.attribute = attribute, .body = parse_body(attribute, data)};
}

}  // namespace wire
