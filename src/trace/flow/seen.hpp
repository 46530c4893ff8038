// The essence of a packet: what is kept of it after it was decoded. The models of a connection's two
// ends work on these.
#pragma once

#include <cstdint>
#include <string>

#include "trace/flow/packet_ids.hpp"
#include "trace/flow/request_sequence.hpp"
#include "wire/packet.hpp"

namespace wire {
struct IcrcHint;
}

namespace flow {

struct Seen {
    std::uint64_t frame = 0;                   ///< number in the capture, from 1
    std::int64_t t_ns = 0;                     ///< since 1970, by the capture's clock
    const wire::OpcodeInfo* opcode = nullptr;  ///< nullptr: not a packet that the user models
    const wire::IcrcHint* hint = nullptr;      ///< of a wrong ICRC; belongs to the user
    std::uint64_t va = 0;                      ///< of a RETH or AtomicETH
    wire::Psn psn;
    std::uint32_t payload = 0;  ///< bytes on the wire
    wire::Aeth aeth;            ///< reserved syndrome: the packet has none, or it was cut
    std::uint32_t rkey = 0;     ///< of a RETH or AtomicETH
    std::uint32_t dmalen = 0;   ///< bytes: of a RETH; 8 for an AtomicETH
    std::uint32_t q_key = 0;    ///< of a DETH
    std::uint16_t p_key = 0;
    /// IPv4 identification; 0: none. Most senders give each packet another one, also a retransmission
    /// (PacketIds).
    std::uint16_t ip_id = 0;
    std::uint8_t hop_limit = 0;
    bool ack_req = false;
    bool is_damaged = false;  ///< wrong ICRC, or malformed: its receiver must drop it
    bool is_marked = false;   ///< IP ECN: congestion experienced
    /// The capture cut off headers: their fields are 0 here.
    bool lacks_headers = false;

    /// `packet` has a BTH, an opcode with a row, and an IP header or a GRH.
    static Seen of(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet);

    bool is(wire::Operation operation) const { return opcode->operation == operation; }
    bool is_request() const { return opcode->is_request(); }
    bool is_response() const { return opcode->is_response(); }

    bool is_kind(wire::AethKind kind) const {
        return is(wire::Operation::Acknowledge) && aeth.kind() == kind;
    }
    bool is_ack() const { return is_kind(wire::AethKind::Ack); }
    bool is_rnr_nak() const { return is_kind(wire::AethKind::RnrNak); }
    bool is_sequence_nak() const { return is_kind(wire::AethKind::Nak) && aeth.code() == 0; }
    /// A NAK that ends the queue pair.
    bool is_fatal_nak() const { return is_kind(wire::AethKind::Nak) && aeth.code() != 0; }
    /// A READ response or an ATOMIC Acknowledge.
    bool is_data() const {
        return is(wire::Operation::RdmaReadResponse) || is(wire::Operation::AtomicAcknowledge);
    }
    /// A request whose response is data, or more than an ACK: READ, ATOMIC, FLUSH, ATOMIC WRITE.
    bool wants_data() const;
    /// Of a request: its responder must send a response.
    bool requires_response() const { return ack_req || wants_data(); }

    /// Of a response: the PSN behind those that it acknowledges. A NAK, also an RNR NAK, acknowledges
    /// only the PSNs before its own (IBTA volume 1, 9.7.5.1.1). A response without its AETH counts
    /// as an ACK: most are.
    wire::Psn acknowledged_end() const {
        return is_kind(wire::AethKind::Nak) || is_rnr_nak() ? psn : psn + 1;
    }
    bool acknowledges(wire::Psn request) const { return request.is_before(acknowledged_end()); }

    /// The PSNs that the packet takes, at least 1. `path_mtu`: 0: unknown.
    std::uint32_t psn_count(PathMtu path_mtu) const {
        return is(wire::Operation::RdmaReadRequest) ? read_psns(dmalen, path_mtu) : 1;
    }

    /// "RC RDMA WRITE Only  PSN 0x98b72c  va 0x5586 rkey 0x0000021d, 64 B".
    std::string text() const;
};

/// Whether a router or switch has marked it (ECN).
bool has_congestion_mark(const wire::Packet& packet);

inline void PacketIds::see(const Seen& packet) {
    see(packet.ip_id);
}
inline bool PacketIds::are_one(const Seen& first, const Seen& second) const {
    return are_one(first.ip_id, second.ip_id, second.t_ns - first.t_ns);
}
inline bool PacketIds::are_two(const Seen& first, const Seen& second) {
    return first.ip_id != 0 && second.ip_id != 0 && first.ip_id != second.ip_id;
}

inline bool PacketIds::was_sent_before(const Seen& first, const Seen& second) const {
    constexpr std::uint64_t half = 32'768;  // of the identifications: the count may have wrapped
    const std::uint64_t apart =
        first.frame > second.frame ? first.frame - second.frame : second.frame - first.frame;
    return apart < half && was_sent_before(first.ip_id, second.ip_id);
}

}  // namespace flow
