// The packets of a capture for the rules, by stream: all of a short capture, and those of a long one
// that the rules may need (Traffic::forget()).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/explain/cause.hpp"
#include "trace/flow/seen.hpp"
#include "trace/flow/tracker.hpp"
#include "trace/service/services.hpp"
#include "wire/icmp.hpp"
#include "wire/icrc_hint.hpp"
#include "wire/neighbour.hpp"
#include "wire/packet.hpp"

namespace explain {

using flow::Seen;

struct KeptStream {
    flow::StreamKey key;
    std::uint64_t number = 0;
    flow::StreamFacts facts;
    std::optional<std::size_t> peer;  ///< index of the other direction
    std::pmr::list<Seen> packets;     ///< in the order of the capture; they stay where they are
    std::uint16_t src_port = 0;       ///< UDP, of the first packet
    std::uint64_t requests = 0, responses = 0, damaged = 0;  ///< with those not in `packets`

    explicit KeptStream(std::pmr::memory_resource* memory) : packets(memory) {}

    std::uint64_t forgotten = 0;             ///< packets not in `packets`
    std::int64_t forgotten_ns = 0;           ///< the time of the last one
    std::uint64_t forgotten_receives = 0;    ///< messages of theirs that took a receive
    std::optional<wire::Psn> forgotten_psn;  ///< the highest of their requests
};

/// Packets of one kind: how many, and the first.
struct Notices {
    std::uint64_t count = 0;
    Evidence first;

    void add(std::uint64_t frame, std::int64_t t_ns, std::string text) {
        if (count++ == 0)
            first = {.frame = frame, .role = {}, .t_ns = t_ns, .text = std::move(text)};
    }
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
    std::optional<std::uint8_t> initiator_depth;      ///< READs that it wants to have outstanding
    std::uint16_t p_key = 0;                          ///< of a ConnectRequest
    std::uint16_t bth_p_key = 0;                      ///< of the packet itself
    std::uint16_t port = 0;                           ///< of an IP service, in a ConnectRequest
    std::uint16_t reason = 0;  ///< of a REJ, or status of a ServiceIdResReqResp
    std::string service;  ///< the private data of a known service: "NVMe reject status 8 (...)"
    std::string text;
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
    /// A packet that was sent without a congestion mark arrived with it.
    void was_marked(const Seen& arrived) { note(arrived, marks_); }
    /// Takes over what the tracker knows of the streams.
    void settle(const flow::Tracker& tracker);

    /// Packets of a stream that forget() leaves.
    struct Share {
        std::size_t first = 0;
        std::size_t newest = 0;
        std::size_t special = 0;  ///< NAKs, and packets of another size or with another Q_Key

        bool has_all(const KeptStream& stream) const {
            return stream.forgotten == 0 && stream.packets.size() <= first + newest;
        }
    };
    /// Forgets the packets that are neither in `held` nor in the share of their stream.
    void forget(const std::unordered_set<const Seen*>& held, const Share& share);
    /// Number of packets that are not forgotten.
    std::size_t kept() const { return kept_; }
    /// Their frames.
    std::unordered_set<std::uint64_t> frames() const;

    const std::vector<KeptStream>& streams() const { return streams_; }
    const std::vector<CmSeen>& cm() const { return cm_; }
    const Notices& cnps() const { return cnps_; }
    /// Packets with a congestion mark of IP.
    const Notices& marks() const { return marks_; }
    /// Packets whose headers the capture cut off.
    struct Cut {
        Notices acknowledgements, messages_of_manager, others;
    };
    const Cut& cut() const { return cut_; }
    const std::vector<Dropped>& dropped() const { return dropped_; }
    /// Requests of ARP or neighbour discovery for a host since its last message; nullptr: none.
    const Notices* unresolved(const flow::Host& host) const;
    std::uint64_t packets() const { return packets_; }
    /// nullopt: the frame is no packet of a stream.
    std::optional<Evidence> evidence_of(std::uint64_t frame) const;
    std::int64_t end_ns() const { return end_ns_; }

  private:
    static void note(const Seen& seen, Notices& notices);
    void see_dropped(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                     util::Bytes bytes);
    void see_neighbour(std::uint64_t frame, std::int64_t t_ns, const wire::Neighbour& message);
    void see_cm(std::uint64_t frame, std::int64_t t_ns, const flow::StreamKey& key,
                const wire::Packet& packet);

    std::pmr::unsynchronized_pool_resource memory_;
    std::vector<KeptStream> streams_;
    std::unordered_map<std::uint64_t, std::size_t> by_number_;
    std::vector<CmSeen> cm_;
    service::Services services_;
    Notices cnps_, marks_;
    Cut cut_;
    std::vector<Dropped> dropped_;
    std::vector<std::pair<flow::Host, Notices>> unresolved_;
    std::set<wire::IcrcHint> hints_;
    std::uint64_t packets_ = 0;
    std::size_t kept_ = 0;
    std::int64_t end_ns_ = 0;
};

/// Returns whether a request takes a receive of the responder: the last packet of its message.
bool takes_receive(const Seen& request);

Evidence evidence(const Seen& seen);
Evidence evidence(const CmSeen& seen);
Evidence evidence(const Dropped& dropped);

}  // namespace explain
