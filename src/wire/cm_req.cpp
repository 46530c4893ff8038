#include "wire/cm_req.hpp"

namespace wire {
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

}  // namespace wire
