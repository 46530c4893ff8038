// The memory that each side exposed to the other, and when each party learned its address and rkey.
// Any party that knows both can read and write there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runlog/event.hpp"
#include "trace/logged/objects.hpp"
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace timeline {

struct Learned {
    std::string who;        ///< "client", "server"; empty: anyone on the path
    std::int64_t t_ns = 0;  ///< nanoseconds since 1970, by the log's host or by the capture's clock
    /// From a log, the channel: "rdma_cm private data", "TLS 1.3", "TCP". From the wire: "CM
    /// ConnectRequest", "CM ConnectReply", "TCP segment", "RETH", "AtomicETH".
    std::string how;
    std::uint64_t frame = 0;  ///< number in the capture, from 1; 0: from a log
};

/// A memory region as registered in its owner's log (docs/run-log.md, `mr`).
struct Capability : logged::Region {
    /// Empty if the memory is not accessible. The first one of each (who, how); those from logs
    /// precede those from the wire.
    std::vector<Learned> learned;

    /// Returns whether it has an rkey and a right that a peer can use.
    bool is_remote() const;
};

class Capabilities {
  public:
    /// Takes the events of all logs before the first packet, in order within each log. The order of
    /// the logs does not matter.
    void learn(const runlog::Event& event);

    /// Takes a packet of the capture. `frame`: the bytes that it was decoded from; `number`: its
    /// number in the capture, from 1; `t_ns`: the capture's clock. A packet reveals a capability if
    /// it has
    ///
    ///   - in a ConnectRequest's or ConnectReply's private data its rkey (4 bytes), va (8) and
    ///     length (8), big-endian, consecutively: what rdma/capability.hpp writes after its mark,
    ///   - in a TCP segment's payload, unencrypted, an endpoint (net/endpoint.hpp) with them,
    ///   - a RETH or AtomicETH with the rkey and a va within the region, on its way to the owner
    ///     (to anyone if the owner's log has no GID).
    ///
    /// An rkey may be reused: if it fits several regions of one owner, the one registered last is
    /// meant.
    void see(const wire::Packet& packet, util::Bytes frame, std::uint64_t number,
             std::int64_t t_ns);

    /// In the order of their `mr` events.
    const std::vector<Capability>& all() const { return all_; }

  private:
    // Source on the wire: a Learned without its own string, because most packets contain nothing
    // new.
    struct WireReference {
        std::string_view how;
        std::uint64_t number = 0;
        std::int64_t t_ns = 0;
    };
    struct Waiting {
        logged::Told told;
        Learned learned;
    };

    void add(const runlog::Event& event);
    void receive(const runlog::Event& event, const logged::Told& told);
    void see_told(const logged::Told& told, const WireReference& reference);
    void see_private_data(util::Bytes data, const WireReference& reference);
    void see_use(std::uint32_t rkey, std::uint64_t va, const wire::Packet& packet,
                 const WireReference& reference);
    static void note(Capability& capability, const WireReference& reference);
    bool is_for(const wire::Packet& packet, const std::string& role) const;
    // Returns the region with the rkey registered last for which `fits` holds; nullptr: none.
    template <typename Fits>
    Capability* find(std::uint32_t rkey, Fits fits);

    std::vector<Capability> all_;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_rkey_;  // remote ones only
    std::multimap<std::uint32_t, Waiting> waiting_;  // by rkey: until the owner's log is read
    logged::Devices devices_;
};

}  // namespace timeline
