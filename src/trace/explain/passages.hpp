// What became of packets on their way, in a capture at both ends of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/explain/logs.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/seen.hpp"

namespace explain {

struct Passage {
    enum class Fate : std::uint8_t {
        Unknown,    ///< its receiver's capture began later, or ended before
        Lost,       ///< it did not arrive
        Arrived,    ///< in the order in which its stream was sent
        Overtaken,  ///< it arrived after a packet of its stream that was sent later
        Damaged,    ///< it arrived with a wrong ICRC: its receiver drops it
        Changed,    ///< it arrived as another packet with a valid ICRC
    };

    std::uint64_t frame = 0;      ///< the frame that was sent
    std::uint64_t stream = 0;     ///< KeptStream::number
    std::int64_t sent_ns = 0;     ///< by the clock of its sender's capture
    std::int64_t arrived_ns = 0;  ///< by the clock of its receiver's capture
    std::uint64_t arrival = 0;    ///< the frame as which it arrived first; 0: it did not
    std::size_t to = 0;           ///< an index of Passages::captures_
    bool is_request = false;
    bool was_marked = false;  ///< it was sent with a congestion mark
    Fate fate = Fate::Unknown;
};

class Passages {
  public:
    /// A frame was captured at this host. Call it for every frame, before sent() and arrived().
    void captured(const flow::Host& at, std::int64_t t_ns);
    /// The same at all hosts.
    void captured_at_all(std::int64_t t_ns) { everywhere_.add(t_ns); }
    /// Call it in the order of the frames.
    void sent(const flow::Seen& seen, std::uint64_t stream, const flow::Host& to);
    struct Arrived {
        std::uint64_t sent = 0;     ///< frame
        std::uint64_t arrival = 0;  ///< frame
        std::int64_t t_ns = 0;
        bool is_damaged = false, is_changed = false;
        bool has_twin = false;  ///< it may be another one: conformance::FrameMatcher::Origin
    };
    /// Returns the packet's stream; 0: the packet is forgotten.
    std::uint64_t arrived(const Arrived& here);

    /// Decides which packets were lost. `is_end`: after the last packet; before that, a packet is lost
    /// if it is late by a second.
    void settle(bool is_end);
    /// After settle(): forgets what is decided of packets that are not among these frames.
    void forget(const std::unordered_set<std::uint64_t>& kept);

    Passage::Fate fate_of(std::uint64_t frame) const;
    /// nullptr: unknown or forgotten.
    const Passage* of(std::uint64_t frame) const;

    using Frames = std::vector<std::uint64_t>;
    /// What befell the requests, or the responses, of one stream, as settled; in ascending order.
    struct Fates {
        Frames lost, overtaken, damaged, changed;
        Frames doubled;                    ///< one for each time that a packet arrived once more
        std::uint64_t newest_arrived = 0;  ///< frame
    };
    const Fates& requests_of(std::uint64_t stream) const { return fates(stream, true); }
    const Fates& responses_of(std::uint64_t stream) const { return fates(stream, false); }
    /// The frames from `begin` to before `end`.
    static std::span<const std::uint64_t> within(const Frames& frames, std::uint64_t begin,
                                                 std::uint64_t end);

  private:
    struct Capture {
        flow::Host at;
        Period span;
    };

    const Fates& fates(std::uint64_t stream, bool of_requests) const;
    std::size_t capture_of(const flow::Host& host);
    Passage* find(std::uint64_t frame);

    std::vector<Capture> captures_;
    Period everywhere_;
    std::deque<Passage> passages_;  // by frame
    std::map<std::pair<std::uint64_t, bool>, Fates>
        fates_;  // by the stream, and whether of requests
};

}  // namespace explain
