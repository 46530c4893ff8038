// The connection manager's ConnectRequest (IBTA volume 1, 12.6.5; offsets as in Linux
// include/rdma/ibta_vol1_c12.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/ip_cm.hpp"
#include "wire/mad.hpp"
#include "wire/psn.hpp"

namespace wire {

struct CmPath {
    static constexpr std::size_t size = 44;

    std::uint16_t local_lid = 0;
    std::uint16_t remote_lid = 0;
    Gid local_gid;
    Gid remote_gid;
    std::uint32_t flow_label = 0;
    std::uint8_t packet_rate = 0;
    std::uint8_t traffic_class = 0;
    std::uint8_t hop_limit = 0;
    std::uint8_t sl = 0;
    bool subnet_local = false;
    std::uint8_t local_ack_timeout = 0;  ///< 5 bits: 4.096 us * 2^n

    static CmPath parse(util::FixedBytes<size> bytes);
    friend bool operator==(const CmPath&, const CmPath&) = default;
};

struct CmReq {
    std::uint32_t local_comm_id = 0;
    std::uint64_t service_id = 0;
    std::uint64_t local_ca_guid = 0;
    std::uint32_t local_q_key = 0;
    std::uint32_t local_qpn = 0;
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    std::uint32_t local_eecn = 0;
    std::uint32_t remote_eecn = 0;
    std::uint8_t remote_cm_response_timeout = 0;  ///< 5 bits: 4.096 us * 2^n
    std::uint8_t transport_service_type = 0;      ///< 0 RC, 1 UC, 2 RD, 3 see extended_transport
    bool end_to_end_flow_control = false;
    Psn starting_psn;
    std::uint8_t local_cm_response_timeout = 0;  ///< 5 bits: 4.096 us * 2^n
    std::uint8_t retry_count = 0;
    std::uint16_t p_key = 0;
    std::uint8_t path_mtu = 0;  ///< the code, 1..5; see path_mtu_bytes()
    bool rdc_exists = false;
    std::uint8_t rnr_retry_count = 0;  ///< 7: infinite
    std::uint8_t max_cm_retries = 0;
    bool srq = false;
    std::uint8_t extended_transport = 0;  ///< 1: XRC
    CmPath primary;
    CmPath alternate;
    std::optional<IpService> ip_service;  ///< from the service ID
    std::optional<IpCm> ip_cm;            ///< only if ip_service is present
    /// The application's private data, after the IP CM header if present. It extends to the end of
    /// the field: the message does not say how much of it is used.
    util::Bytes private_data;

    /// 256 * 2^(code-1); 0 if the code is not in 1..5.
    unsigned path_mtu_bytes() const;

    static CmReq parse(util::FixedBytes<Mad::data_size> bytes);
};

}  // namespace wire
