#include "wire/cm.hpp"

#include <algorithm>
#include <array>

namespace wire {
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
