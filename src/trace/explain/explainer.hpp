// Applies the rules: from packets and log events to causes, the most probable one first.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "trace/conformance/checker.hpp"
#include "trace/explain/cause.hpp"
#include "trace/explain/course.hpp"
#include "trace/explain/link_record.hpp"
#include "trace/explain/logs.hpp"
#include "trace/explain/passages.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

class Explainer {
  public:
    /// It keeps all packets of a capture that has at most so many. Of a longer one, it keeps those that
    /// the rules may need, about as many in all; then the number of packets lost, retransmitted and
    /// damaged stays exact for each connection, until these are too many as well.
    static constexpr std::size_t most_packets = std::size_t{1} << 17;

    explicit Explainer(const flow::Limits& limits = flow::Limits(),
                       std::size_t packets = most_packets)
        : tracker_(limits), most_(packets), next_(packets) {}

    /// Call for all events of all logs before the first packet.
    void learn(const runlog::Event& event) { logs_.learn(event); }
    /// Call for all events of the link emulator's log (link.jsonl), if there is one.
    void learn_link(const runlog::Event& event) { link_.learn(event); }
    /// Sets the address of a role's host.
    void place(const std::string& role, const flow::Host& host) { logs_.place(role, host); }
    /// Sets the exit status of a role's program, for the case that its log does not have it.
    void ended(const std::string& role, std::uint64_t status) { logs_.ended(role, status); }
    void know(const flow::KnownQueuePair& pair) { tracker_.know(pair); }
    /// Sets the host at which the capture was made.
    void captured_at(const flow::Host& host) { place_ = host; }
    /// Call before the first packet: the capture dropped none.
    void has_all_packets() { checker_.has_all_packets(); }
    /// The capture dropped some.
    void packets_may_be_missing() { checker_.packets_may_be_missing(); }
    /// `packet` was decoded with its ICRC. `frame`: number in the capture, from 1.
    /// `bytes`: those of the frame.
    void add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
             std::size_t wire_length, util::Bytes bytes) {
        has_capture_ = true;
        period_.add(t_ns);
        const std::uint64_t stream =
            tracker_.add(std::chrono::nanoseconds(t_ns), packet, wire_length);
        traffic_.add(frame, t_ns, packet, stream, bytes);
        check(frame, t_ns, packet, stream);
        if (traffic_.kept() >= next_)
            forget();
    }
    /// The same for a frame of a capture at both ends of the path. One that is not RoCE counts as sent.
    void add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet, util::Bytes bytes,
             const conformance::Passing& at);

    Explanation explanation();

  private:
    void check(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
               std::uint64_t stream);
    void arrive(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                util::Bytes bytes, const conformance::Passing& at,
                conformance::Checker::Added added);
    void forget();
    const Passages* passages() const { return passages_ ? &*passages_ : nullptr; }

    Logs logs_;
    LinkRecord link_;
    flow::Tracker tracker_;
    Traffic traffic_;
    conformance::Checker checker_{tracker_};
    std::optional<flow::Host> place_;
    std::optional<Passages> passages_;  // of a capture at both ends
    bool has_capture_ = false;
    Period period_;                                  // of the packets
    std::unordered_map<std::uint64_t, Walk> walks_;  // by the number of the requests' stream
    std::size_t most_, next_;                        // packets; the next time to forget some
};

}  // namespace explain
