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
#include "wire/layout.hpp"
#include "wire/mad.hpp"
#include "wire/psn.hpp"

namespace wire {

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

    using Fields =
        Layout<Header::Cm, At<&IpCm::major_version, 0, 4>, At<&IpCm::minor_version, 4, 4>,
               At<&IpCm::ip_version, 8, 4>, At<&IpCm::src_port, 16, 16>, At<&IpCm::src, 32, 128>,
               At<&IpCm::dst, 160, 128>>;
    /// Removes the header from the front of a message's private data. Returns nullopt and leaves
    /// private_data unchanged unless `service` is an IP service and the header has a known version.
    static std::optional<IpCm> take_from(const std::optional<IpService>& service,
                                         util::Bytes& private_data);
    friend bool operator==(const IpCm&, const IpCm&) = default;
};

/// ConnectRequest (12.6.5).
struct CmReq {
    static constexpr auto attribute = CmAttribute::ConnectRequest;

    std::uint32_t local_comm_id = 0;
    std::uint64_t service_id = 0;
    std::uint32_t local_qpn = 0;
    std::uint8_t responder_resources = 0;     ///< READs and atomics that the sender serves
    std::uint8_t initiator_depth = 0;         ///< READs and atomics that it requests at a time
    std::uint8_t transport_service_type = 0;  ///< 0 RC, 1 UC, 2 RD, 3 see extended_transport
    Psn starting_psn;
    std::uint8_t retry_count = 0;
    std::uint16_t p_key = 0;
    std::uint8_t path_mtu = 0;            ///< the code, 1..5; see path_mtu_bytes()
    std::uint8_t extended_transport = 0;  ///< 1: XRC
    std::uint8_t local_ack_timeout = 0;   ///< of the primary path; 5 bits: 4.096 us * 2^n
    std::optional<IpService> ip_service;  ///< from the service ID
    std::optional<IpCm> ip_cm;            ///< only if ip_service is present
    /// The application's private data, after the IP CM header if present. It extends to the end of
    /// the field: the message does not say how much of it is used.
    util::Bytes private_data;

    /// 256 * 2^(code-1); 0 if the code is not in 1..5.
    unsigned path_mtu_bytes() const;

    using Fields =
        Layout<Header::Cm, At<&CmReq::local_comm_id, 0, 32>, At<&CmReq::service_id, 8 * 8, 64>,
               At<&CmReq::local_qpn, 8 * 32, 24>, At<&CmReq::responder_resources, 8 * 35, 8>,
               At<&CmReq::initiator_depth, 8 * 39, 8>,
               At<&CmReq::transport_service_type, 8 * 43 + 5, 2>,
               At<&CmReq::starting_psn, 8 * 44, 24>, At<&CmReq::retry_count, 8 * 47 + 5, 3>,
               At<&CmReq::p_key, 8 * 48, 16>, At<&CmReq::path_mtu, 8 * 50, 4>,
               At<&CmReq::extended_transport, 8 * 51 + 5, 3>,
               At<&CmReq::local_ack_timeout, 8 * 95, 5>, At<&CmReq::private_data, 8 * 140, 8 * 92>>;
};

/// The message that an MRA or a REJ refers to: 0 "REQ", 1 "REP", 2 "LAP" in an MRA or "no message"
/// in a REJ, 3 reserved.
using CmAnswered = std::uint8_t;

struct CmMra {
    static constexpr auto attribute = CmAttribute::MsgRcptAck;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    CmAnswered message_mraed = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmMra::local_comm_id, 0, 32>, At<&CmMra::remote_comm_id, 8 * 4, 32>,
               At<&CmMra::message_mraed, 8 * 8, 2>, At<&CmMra::private_data, 8 * 10, 8 * 222>>;
};

struct CmRej {
    static constexpr auto attribute = CmAttribute::ConnectReject;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    CmAnswered message_rejected = 0;
    std::uint16_t reason = 0;
    std::uint8_t ari_length = 0;
    util::Bytes ari;  ///< additional information: ari_length bytes, at most 72
    util::Bytes private_data;

    /// "Invalid Service ID" (12.6.7.2); "Reserved" for a code without a name.
    std::string_view reason_name() const;

    using Fields =
        Layout<Header::Cm, At<&CmRej::local_comm_id, 0, 32>, At<&CmRej::remote_comm_id, 8 * 4, 32>,
               At<&CmRej::message_rejected, 8 * 8, 2>, At<&CmRej::ari_length, 8 * 9, 7>,
               At<&CmRej::reason, 8 * 10, 16>, At<&CmRej::ari, 8 * 12, 8 * 72>,
               At<&CmRej::private_data, 8 * 84, 8 * 148>>;
};

struct CmRep {
    static constexpr auto attribute = CmAttribute::ConnectReply;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t local_qpn = 0;
    Psn starting_psn;
    std::uint8_t responder_resources = 0;
    std::uint8_t initiator_depth = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmRep::local_comm_id, 0, 32>, At<&CmRep::remote_comm_id, 8 * 4, 32>,
               At<&CmRep::local_qpn, 8 * 12, 24>, At<&CmRep::starting_psn, 8 * 20, 24>,
               At<&CmRep::responder_resources, 8 * 24, 8>, At<&CmRep::initiator_depth, 8 * 25, 8>,
               At<&CmRep::private_data, 8 * 36, 8 * 196>>;
};

struct CmRtu {
    static constexpr auto attribute = CmAttribute::ReadyToUse;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmRtu::local_comm_id, 0, 32>, At<&CmRtu::remote_comm_id, 8 * 4, 32>,
               At<&CmRtu::private_data, 8 * 8, 8 * 224>>;
};

struct CmDreq {
    static constexpr auto attribute = CmAttribute::DisconnectRequest;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t remote_qpn = 0;  ///< the receiver's queue pair
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmDreq::local_comm_id, 0, 32>,
               At<&CmDreq::remote_comm_id, 8 * 4, 32>, At<&CmDreq::remote_qpn, 8 * 8, 24>,
               At<&CmDreq::private_data, 8 * 12, 8 * 220>>;
};

struct CmDrep {
    static constexpr auto attribute = CmAttribute::DisconnectReply;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmDrep::local_comm_id, 0, 32>,
               At<&CmDrep::remote_comm_id, 8 * 4, 32>, At<&CmDrep::private_data, 8 * 8, 8 * 224>>;
};

/// Service ID resolution: how rdma_cm finds a UD queue pair.
struct CmSidrReq {
    static constexpr auto attribute = CmAttribute::ServiceIdResReq;

    std::uint32_t request_id = 0;
    std::uint16_t p_key = 0;
    std::uint64_t service_id = 0;
    std::optional<IpService> ip_service;
    std::optional<IpCm> ip_cm;
    util::Bytes private_data;

    using Fields = Layout<Header::Cm, At<&CmSidrReq::request_id, 0, 32>,
                          At<&CmSidrReq::p_key, 8 * 4, 16>, At<&CmSidrReq::service_id, 8 * 8, 64>,
                          At<&CmSidrReq::private_data, 8 * 16, 8 * 216>>;
};

struct CmSidrRep {
    static constexpr auto attribute = CmAttribute::ServiceIdResReqResp;

    std::uint32_t request_id = 0;
    std::uint8_t status = 0;
    std::uint32_t qpn = 0;
    std::uint64_t service_id = 0;
    std::uint32_t q_key = 0;
    util::Bytes private_data;

    /// "Valid QPN", "Service ID not supported", ... (12.11.2.1)
    std::string_view status_name() const;

    using Fields =
        Layout<Header::Cm, At<&CmSidrRep::request_id, 0, 32>, At<&CmSidrRep::status, 8 * 4, 8>,
               At<&CmSidrRep::qpn, 8 * 8, 24>, At<&CmSidrRep::service_id, 8 * 12, 64>,
               At<&CmSidrRep::q_key, 8 * 20, 32>, At<&CmSidrRep::private_data, 8 * 96, 8 * 136>>;
};

struct CmLap {
    static constexpr auto attribute = CmAttribute::LoadAlternatePath;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint32_t remote_qpn = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmLap::local_comm_id, 0, 32>, At<&CmLap::remote_comm_id, 8 * 4, 32>,
               At<&CmLap::remote_qpn, 8 * 12, 24>, At<&CmLap::private_data, 8 * 64, 8 * 168>>;
};

struct CmApr {
    static constexpr auto attribute = CmAttribute::AlternatePathResponse;

    std::uint32_t local_comm_id = 0;
    std::uint32_t remote_comm_id = 0;
    std::uint8_t status = 0;
    util::Bytes private_data;

    using Fields =
        Layout<Header::Cm, At<&CmApr::local_comm_id, 0, 32>, At<&CmApr::remote_comm_id, 8 * 4, 32>,
               At<&CmApr::status, 8 * 9, 8>, At<&CmApr::private_data, 8 * 84, 8 * 148>>;
};

/// monostate: a CM message with an unknown attribute.
using CmBody = std::variant<std::monostate, CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep,
                            CmSidrReq, CmSidrRep, CmLap, CmApr>;

struct Cm {
    CmAttribute attribute{};
    CmBody body;  ///< what other code uses of the message
    util::MaybeBytes<Mad::data_size> data{};

    std::string_view name() const { return wire::name(attribute); }
    /// nullptr if the message is of another kind: `if (const auto* req = cm.as<CmReq>())`.
    template <typename Message>
    const Message* as() const {
        return std::get_if<Message>(&body);
    }

    /// `data`: the MAD's bytes after the common header, to which the result refers.
    static Cm parse(std::uint16_t attribute_id, util::FixedBytes<Mad::data_size> data);
};

}  // namespace wire
