// The whole check. Input: the frames on both sides of the link. Output: each connection with the
// recoveries of lost and changed packets, the deviations from the specification, and the expected
// values of the hosts' counters. No I/O.
//
// A capture at one point has each frame once: it counts as sent and as arrived. A capture at a host
// shows what this host knew, so its requesters and responders can be judged. For other hosts, only
// deviations that no missing packet can explain are judged.
//
// Memory is for connections, not for packets: the models remember what may still be repeated or
// answered. Of a capture at one point, they take each packet as it comes, as soon as both directions and
// the path MTU are known. Until then a direction has a backlog of at most 4096 packets, and all
// directions together one of some 65,536.
//
// With both sides of the link, the models take the packets of a direction in parts of at most 32,768,
// and of 64 if there are many directions. The next part must have begun, because only then it is known
// what was lost; the recoveries of a part are looked for in three: it, the one before and the next one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/frame_matcher.hpp"
#include "trace/conformance/half_check.hpp"
#include "trace/conformance/recovery.hpp"
#include "trace/flow/tracker.hpp"

namespace conformance {

/// A half with cut packets is not judged.
struct HalfReport : HalfCheck::Counts {
    std::uint64_t repeated = 0;  ///< retransmitted request packets
    std::uint64_t copied = 0;    ///< request packets captured again that were sent once
    std::optional<wire::Psn> first_psn;
    bool is_told = false;
    bool began_in_the_middle = false;
    /// How many times the capture recorded packets in another order than they passed.
    std::uint64_t out_of_order = 0;
    /// Requests that were answered and that the capture at one point does not have: such a half is
    /// judged as one with missing packets.
    Responder::Missing missing;
    std::optional<std::uint64_t> silent_since;  ///< the frame from which on nothing was answered
    std::optional<std::uint64_t> gave_up_after;
    std::uint64_t findings = 0;
    std::uint64_t unknowable = 0;

    std::uint64_t events() const { return lost + doubled + reordered + corrupted + changed; }
    bool is_judged() const { return (requests != 0 || responses != 0) && cut == 0; }
};

struct ConnectionReport {
    flow::Host from, to;  ///< `from` sent the first packet
    flow::Network network{};
    std::optional<std::uint32_t> from_qpn, to_qpn;
    flow::Pairing pairing = flow::Pairing::None;
    flow::PathMtu path_mtu = 0;  ///< 0: unknown
    HalfReport forward, backward;

    std::uint64_t findings() const { return forward.findings + backward.findings; }
};

/// By the names of rxe's hw_counters.
using Counts = std::map<std::string, std::uint64_t>;

struct HostReport {
    flow::Host host;
    flow::Network network{};
    Counts counts;
    std::uint64_t datagrams = 0;  ///< of those sent and received: UD, with connection management
};

/// Where the capture was made, if not on both sides of the link.
struct OnePoint {
    std::optional<flow::Host> host;  ///< nullopt: unknown
};

/// Whether a capture at one point has all packets that passed.
enum class Completeness : std::uint8_t { Assumed, Known, Lossy };

struct LeftOut {
    Code code{};
    std::size_t connection = 0;
    bool forward = true;
    bool is_unknowable = false;
    std::uint64_t count = 0;
};

struct Report {
    std::optional<OnePoint> one_point;
    Completeness completeness = Completeness::Assumed;
    std::vector<ConnectionReport> connections;
    std::vector<Recovery> recoveries;  ///< in the order of their frames
    std::uint64_t recoveries_left_out = 0;
    Findings findings;              ///< in the same order
    Findings unknowable;            ///< in the same order: a missing packet may explain them
    std::vector<LeftOut> left_out;  ///< findings beyond HalfFindings::most
    std::vector<HostReport> hosts;
    std::uint64_t frames = 0;
    std::uint64_t not_judged = 0;  ///< RoCE packets outside of reliable connections
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;

    bool judges_nothing() const;
    /// Whether a finding, or a whole half, cannot be judged.
    bool leaves_open() const;
};

class Checker {
  public:
    /// `tracker` is told what is known of queue pairs before the first packet.
    /// `most_of_part`: packets of one direction that the models take at once.
    explicit Checker(flow::Tracker& tracker, std::size_t most_of_part = 32'768)
        : tracker_(tracker), most_of_part_(most_of_part) {}
    // The models refer to what they share.
    Checker(const Checker&) = delete;
    Checker(Checker&&) = delete;
    Checker& operator=(const Checker&) = delete;
    Checker& operator=(Checker&&) = delete;
    ~Checker() = default;

    /// Call before the frame is added.
    void know(std::uint64_t frame, LinkAction event) { passages_.know(frame, event); }
    /// Call before finish(), if add_at_one_point() was called.
    void captured_at(const OnePoint& place) { report_.one_point = place; }
    /// Packets may have been lost between a host and the capture (netem on the host's interface),
    /// or by a capture at one point.
    void packets_may_be_missing() { report_.completeness = Completeness::Lossy; }
    /// Call before the first packet: the capture at one point dropped none.
    void has_all_packets() { report_.completeness = Completeness::Known; }

    struct Added {
        std::uint64_t stream = 0;  ///< number from the tracker; 0: none, or that of `origin`
        std::uint64_t origin = 0;  ///< of a frame that arrived: the one that was sent; 0: unknown
        bool is_changed = false;   ///< since then
        bool has_twin = false;     ///< FrameMatcher::Origin
    };
    /// Call in capture order. `bytes`: what identifies the frame at both ends. `frame`: from 1.
    Added add(std::uint64_t frame, LinkSide side, std::int64_t t_ns, const wire::Packet& packet,
              util::Bytes bytes, IcrcTrust trust = IcrcTrust::Full);
    /// The same for a frame of a capture at one point. `stream`: from the tracker, to which the caller
    /// has added the packet.
    void add_at_one_point(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                          std::uint64_t stream, IcrcTrust trust = IcrcTrust::Full);

    /// Finishes the tracker, too.
    Report finish();

  private:
    struct HalfStream {
        flow::StreamKey key;
        std::uint64_t first_frame = 0;  // 0: none
        std::uint64_t packets = 0;      // of a capture at one point
        // That the models have not taken. At one point: as sent.
        std::deque<std::pair<LinkSide, ObservedPacket>> seen;
        std::size_t taken = 0;            // number of packets before those in `seen`
        std::unique_ptr<HalfCheck> half;  // for the requests in it
        std::optional<std::size_t> peer;
        flow::Pairing pairing = flow::Pairing::None;
        HalfConnectionFacts facts;  // for the requests in it
        flow::PathMtu path_mtu = 0;
    };
    void begin(std::int64_t t_ns);
    ObservedPacket* sent_at(const std::optional<FrameMatcher::Place>& place);
    void add(std::size_t index, LinkSide side, const ObservedPacket& seen);
    std::size_t part_size() const;
    void take_part(std::size_t index, std::uint64_t until);
    void start(HalfStream& stream, Keep keep);
    void feed(HalfStream& stream, HalfStream* peer, std::uint64_t until);
    void feed(const HalfStream& stream, LinkSide side, const ObservedPacket& seen);
    std::size_t stream_of(std::uint64_t number, const flow::StreamKey& key);
    // one_point.cpp
    void look_for_peer(std::size_t index);
    void run(std::size_t index);
    // connections.cpp
    void count(LinkSide side, const flow::StreamKey& key, const wire::Packet& packet, bool damaged);
    HostReport& host(const flow::Host& host, flow::Network network);
    static void settle_fates(HalfStream& stream, std::uint64_t until);
    void settle_facts();
    void settle_facts(HalfStream& stream, const flow::StreamFacts& facts);
    static void settle_first_psn(HalfStream& stream, const flow::StreamFacts& facts);
    bool is_judged(const flow::StreamKey& requests, Code code) const;
    void report(const HalfStream& stream, std::size_t connection, bool forward, HalfReport& out);
    void count_models(const flow::StreamKey& requests, const HalfCheck& check);

    bool may_lack_packets_ = false;
    FrameMatcher passages_;  // a frame's place: its stream, and its number among all packets of it
    flow::Tracker& tracker_;
    std::size_t most_of_part_;
    Shared shared_;
    std::size_t backlogs_ = 0;  // packets of directions that have no models yet
    std::vector<HalfStream> streams_;
    std::unordered_map<std::uint64_t, std::size_t> by_number_;  // by the tracker's stream number
    Report report_;
};

}  // namespace conformance
