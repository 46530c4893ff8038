// The whole check. Input: the frames on both sides of the link. Output: each connection with the
// recoveries of lost and changed packets, the deviations from the specification, and the expected
// values of the hosts' counters. No I/O.
//
// A capture at one point has each frame once: it counts as sent and as arrived. A capture at a host
// shows what this host knew, so its requesters and responders can be judged. For other hosts, only
// deviations that no missing packet can explain are judged.
//
// Memory: with both sides of the link, some 600 bytes for each frame, because the recovery of a packet
// may end much later. A capture at one point takes memory for its connections, not for its packets: as
// soon as both directions and the path MTU are known, the models take each packet as it comes, and
// remember what may still be repeated or answered. Until then a direction has a backlog of at most
// 4096 packets, and all directions together one of some 65,536.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/frame_matcher.hpp"
#include "trace/conformance/half_check.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/recovery.hpp"
#include "trace/flow/tracker.hpp"

namespace conformance {

struct HalfReport {
    std::uint64_t requests = 0;  ///< packets sent, including retransmissions
    std::uint64_t responses = 0;
    std::uint64_t repeated = 0;  ///< retransmitted request packets
    std::uint64_t copied = 0;    ///< request packets captured again that were sent once
    std::uint64_t lost = 0;      ///< requests and responses, by the link emulator
    std::uint64_t doubled = 0;
    std::uint64_t reordered = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t changed = 0;
    std::optional<wire::Psn> first_psn;
    bool is_told = false;
    bool began_in_the_middle = false;
    std::optional<std::uint64_t> silent_since;  ///< the frame from which on nothing was answered
    std::optional<std::uint64_t> gave_up_after;
    std::uint64_t findings = 0;
    std::uint64_t unknowable = 0;

    std::uint64_t events() const { return lost + doubled + reordered + corrupted + changed; }
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

struct LeftOut {
    Code code{};
    std::size_t connection = 0;
    bool forward = true;
    bool is_unknowable = false;
    std::uint64_t count = 0;
};

struct Report {
    std::optional<OnePoint> one_point;
    std::vector<ConnectionReport> connections;
    std::vector<Recovery> recoveries;  ///< in the order of their frames
    Findings findings;                 ///< in the same order
    Findings unknowable;               ///< in the same order: a missing packet may explain them
    std::vector<LeftOut> left_out;     ///< findings beyond HalfFindings::most
    std::vector<HostReport> hosts;
    std::uint64_t frames = 0;
    std::uint64_t not_judged = 0;  ///< RoCE packets outside of reliable connections
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

class Checker {
  public:
    /// `tracker` is told what is known of queue pairs before the first packet.
    explicit Checker(flow::Tracker& tracker) : tracker_(tracker) {}
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
    void packets_may_be_missing() { packets_may_be_missing_ = true; }

    /// Call in capture order. `bytes`: the whole frame. `frame`: from 1.
    void add(std::uint64_t frame, LinkSide side, std::int64_t t_ns, const wire::Packet& packet,
             util::Bytes bytes);
    /// The same for a frame of a capture at one point. `stream`: from the tracker, to which the caller
    /// has added the packet.
    void add_at_one_point(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                          std::uint64_t stream);

    /// Finishes the tracker, too.
    Report finish();

  private:
    struct HalfStream {
        flow::StreamKey key;
        std::uint64_t first_frame = 0;                          // 0: none
        std::uint64_t packets = 0;                              // of a capture at one point
        std::vector<std::pair<LinkSide, ObservedPacket>> seen;  // at one point: as sent
        std::unique_ptr<HalfCheck> half;  // for the requests in it; then `seen` is empty
        std::optional<std::size_t> peer;
        flow::Pairing pairing = flow::Pairing::None;
        HalfConnectionFacts facts;  // for the requests in it
        flow::PathMtu path_mtu = 0;
    };
    struct SentFrame {  // a frame that was sent
        std::size_t stream = 0;
        std::size_t index = 0;
    };

    void begin(std::int64_t t_ns);
    static void add(HalfStream& stream, LinkSide side, const ObservedPacket& seen);
    std::size_t stream_of(std::uint64_t number, const flow::StreamKey& key);
    // one_point.cpp
    void look_for_peer(std::size_t index);
    void run(std::size_t index);
    void feed(const HalfStream& stream, const ObservedPacket& seen);
    static ObservedPacket as_arrived(ObservedPacket seen);
    // connections.cpp
    void count(LinkSide side, const flow::StreamKey& key, const wire::Packet& packet, bool damaged);
    HostReport& host(const flow::Host& host, flow::Network network);
    void settle_fates();
    void settle_facts();
    void settle_facts(HalfStream& stream, const flow::StreamFacts& facts);
    static void settle_first_psn(HalfStream& stream);
    bool is_judged(const HalfConnection& half, Code code) const;
    HalfConnection half_of(const HalfStream& requests, const HalfStream* responses) const;
    void check(HalfStream& stream, const HalfStream* peer, std::size_t connection, bool forward,
               HalfReport& out);
    void report(const HalfConnection& half, HalfCheck& check, std::size_t connection, bool forward,
                HalfReport& out);
    void count_models(const HalfConnection& half, const HalfCheck& check);

    bool packets_may_be_missing_ = false;
    FrameMatcher passages_;
    flow::Tracker& tracker_;
    Shared shared_;
    std::size_t backlogs_ = 0;  // packets of directions that have no models yet
    std::vector<HalfStream> streams_;
    std::unordered_map<std::uint64_t, std::size_t> by_number_;  // by the tracker's stream number
    std::unordered_map<std::uint64_t, SentFrame> sent_frames_;  // by frame number
    Report report_;
};

}  // namespace conformance
