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
#include "wire/cm_req.hpp"
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
