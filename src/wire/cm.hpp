// Messages of the connection manager, carried in MADs of class 7 (IBTA volume 1, chapter 12;
// offsets as in Linux include/rdma/ibta_vol1_c12.h).
//
// "Local" is always the sender of the message and "remote" its receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/mad.hpp"
#include "wire/psn.hpp"

namespace wire {

/// A service ID of the RDMA IP CM service (annex A11): 0x0000000001 | IP protocol | port.
struct IpService {
    std::uint8_t protocol = 0;  ///< 0x06: RDMA_PS_TCP, 0x11: RDMA_PS_UDP, 0x3f: RDMA_PS_IB
    std::uint16_t port = 0;     ///< the port that the program passed to rdma_cm

    /// nullopt for any other service.
    static std::optional<IpService> of(std::uint64_t service_id);
    friend bool operator==(const IpService&, const IpService&) = default;
};

/// Header that rdma_cm puts before the program's private data: the IP addresses of the request
/// (annex A11; Linux drivers/infiniband/core/cma.c).
struct IpCm {
    static constexpr std::size_t size = 36;

    std::uint8_t major_version = 0;
    std::uint8_t minor_version = 0;
    std::uint8_t ip_version = 4;  ///< 4 or 6
    std::uint16_t src_port = 0;
    Ipv6Address src;  ///< an IPv4 address is in the last four bytes, after zeros
    Ipv6Address dst;

    Ipv4Address src_ipv4() const;
    Ipv4Address dst_ipv4() const;

    static IpCm parse(util::FixedBytes<size> bytes);
    /// Removes the header from the front of a message's private data. Returns nullopt and leaves
    /// private_data unchanged unless `service` is an IP service and the header has a known version.
    static std::optional<IpCm> take_from(const std::optional<IpService>& service,
                                         util::Bytes& private_data);
    friend bool operator==(const IpCm&, const IpCm&) = default;
};

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

/// ConnectRequest (12.6.5).
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

/// MAD attribute IDs.
enum class CmAttribute : std::uint16_t {
    ClassPortInfo = 0x0001,
    ConnectRequest = 0x0010,
    MsgRcptAck = 0x0011,
    ConnectReject = 0x0012,
    ConnectReply = 0x0013,
    ReadyToUse = 0x0014,
    DisconnectRequest = 0x0015,
    DisconnectReply = 0x0016,
    ServiceIdResReq = 0x0017,
    ServiceIdResReqResp = 0x0018,
    LoadAlternatePath = 0x0019,
    AlternatePathResponse = 0x001a,
};

/// Wireshark's name ("ConnectRequest"); empty for an ID that is not a CM attribute.
std::string_view name(CmAttribute attribute);

/// The message that an MRA or a REJ refers to: 0 "REQ", 1 "REP", 2 "LAP" in an MRA or "no message"
/// in a REJ, 3 reserved.
using CmAnswered = std::uint8_t;

struct CmMra {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    CmAnswered message_mraed = 0;
    std::uint8_t service_timeout = 0;  ///< 5 bits: 4.096 us * 2^n
    util::Bytes private_data;
};

struct CmRej {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    CmAnswered message_rejected = 0;
    std::uint16_t reason = 0;
    util::Bytes ari;  ///< additional information, of the length given in the message
    util::Bytes private_data;

    /// "Invalid Service ID" (12.6.7.2); "Reserved" for a code without a name.
    std::string_view reason_name() const;
};

struct CmRep {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t local_q_key = 0;
    std::uint32_t local_qpn = 0;
    std::uint32_t local_eecn = 0;
    Psn starting_psn;
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    std::uint8_t target_ack_delay = 0;  ///< 5 bits: 4.096 us * 2^n
    std::uint8_t failover_accepted = 0;
    bool end_to_end_flow_control = false;
    std::uint8_t rnr_retry_count = 0;  ///< 7: infinite
    bool srq = false;
    std::uint64_t local_ca_guid = 0;
    util::Bytes private_data;
};

struct CmRtu {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    util::Bytes private_data;
};

struct CmDreq {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t remote_qpn = 0;  ///< the receiver's queue pair
    util::Bytes private_data;
};

struct CmDrep {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    util::Bytes private_data;
};

/// Service ID resolution: how rdma_cm finds a UD queue pair.
struct CmSidrReq {
    std::uint32_t request_id = 0;
    std::uint16_t p_key = 0;
    std::uint64_t service_id = 0;
    std::optional<IpService> ip_service;
    std::optional<IpCm> ip_cm;
    util::Bytes private_data;
};

struct CmSidrRep {
    std::uint32_t request_id = 0;
    std::uint8_t status = 0;
    std::uint32_t qpn = 0;
    std::uint64_t service_id = 0;
    std::uint32_t q_key = 0;
    util::Bytes private_data;

    /// "Valid QPN", "Service ID not supported", ... (12.11.2.1)
    std::string_view status_name() const;
};

struct CmLap {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t remote_qpn = 0;
    Gid alternate_local_gid;
    Gid alternate_remote_gid;
    util::Bytes private_data;
};

struct CmApr {
    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint8_t status = 0;
    util::Bytes private_data;
};

/// monostate: a CM message with an unknown attribute.
using CmBody = std::variant<std::monostate, CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep,
                            CmSidrReq, CmSidrRep, CmLap, CmApr>;

struct Cm {
    CmAttribute attribute{};
    CmBody body;

    std::string_view name() const { return wire::name(attribute); }
    /// nullptr if the message is of another kind: `if (const auto* req = cm.as<CmReq>())`.
    template <typename Message>
    const Message* as() const {
        return std::get_if<Message>(&body);
    }

    /// `data`: the MAD's bytes after the common header. Spans of the result point into it.
    static Cm parse(std::uint16_t attribute_id, util::FixedBytes<Mad::data_size> data);
};

}  // namespace wire
