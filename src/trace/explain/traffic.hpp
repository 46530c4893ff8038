// The packets of a capture for the rules: a few dozen bytes each, by stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/explain/cause.hpp"
#include "trace/flow/seen.hpp"
#include "trace/flow/tracker.hpp"
#include "wire/icmp.hpp"
#include "wire/icrc_hint.hpp"
#include "wire/packet.hpp"

namespace explain {

using flow::Seen;

struct Stream {
    flow::StreamKey key;
    std::uint64_t number = 0;
    flow::StreamFacts facts;
    std::optional<std::size_t> peer;  ///< index of the other direction
    std::vector<Seen> packets;        ///< in the order of the capture
    std::uint16_t src_port = 0;       ///< UDP, of the first packet
    std::uint64_t damaged = 0;
};

/// A message of the connection manager.
struct CmSeen {
    std::uint64_t frame = 0;
    std::int64_t t_ns = 0;
    flow::Host from, to;
    flow::Network network{};
    wire::CmAttribute attribute{};
    std::uint32_t local_id = 0, remote_id = 0;
    std::uint32_t qpn =
        0;  ///< of the sender, or the resolved one; DisconnectRequest: the receiver's
    std::optional<std::uint8_t> responder_resources;  ///< READs that the sender accepts
    std::uint16_t p_key = 0;                          ///< of a ConnectRequest
    std::uint16_t bth_p_key = 0;                      ///< of the packet itself
    std::uint16_t port = 0;                           ///< of an IP service, in a ConnectRequest
    std::uint16_t reason = 0;  ///< of a REJ, or status of a ServiceIdResReqResp
    std::string text;
};

struct Cnp {
    std::uint64_t frame = 0;
    std::int64_t t_ns = 0;
};

/// An ICMP error: a packet was dropped.
struct Dropped {
    std::uint64_t frame = 0;
    std::int64_t t_ns = 0;
    wire::IcmpError::What what{};
    std::uint32_t mtu = 0;
    flow::Host by;        ///< who reports it
    flow::Host src, dst;  ///< of the dropped packet
    flow::Network network{};
    std::uint16_t src_port = 0;
    std::string text;
};

class Traffic {
  public:
    /// Call in capture order. `packet` must be decoded with its ICRC. `stream`: from the tracker.
    void add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
             std::uint64_t stream, util::Bytes bytes);
    /// Call after the tracker's finish().
    void finish(const flow::Tracker& tracker);

    const std::vector<Stream>& streams() const { return streams_; }
    const std::vector<CmSeen>& cm() const { return cm_; }
    const std::vector<Cnp>& cnps() const { return cnps_; }
    const std::vector<Dropped>& dropped() const { return dropped_; }
    std::uint64_t packets() const { return packets_; }
    /// nullopt: the frame is no packet of a stream.
    std::optional<Evidence> evidence_of(std::uint64_t frame) const;
    std::int64_t end_ns() const { return end_ns_; }

  private:
    void see_dropped(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                     util::Bytes bytes);
    void see_cm(std::uint64_t frame, std::int64_t t_ns, const flow::StreamKey& key,
                const wire::Packet& packet);

    std::vector<Stream> streams_;
    std::unordered_map<std::uint64_t, std::size_t> by_number_;
    std::vector<CmSeen> cm_;
    std::vector<Cnp> cnps_;
    std::vector<Dropped> dropped_;
    std::set<wire::IcrcHint> hints_;
    std::uint64_t packets_ = 0;
    std::int64_t end_ns_ = 0;
};

Evidence evidence(const Seen& seen);
Evidence evidence(const CmSeen& seen);
Evidence evidence(const Dropped& dropped);

}  // namespace explain
