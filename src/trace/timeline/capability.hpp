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
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace timeline {

struct Learned {
    std::string who;        ///< "client", "server"; empty: whoever sees the wire
    std::int64_t t_ns = 0;  ///< nanoseconds since 1970: of a log its host's, else the capture's
    /// Of a log its channel: "rdma_cm private data", "TLS 1.3", "TCP". Of the wire: "CM
    /// ConnectRequest", "CM ConnectReply", "TCP segment", "RETH", "AtomicETH".
    std::string how;
    std::uint64_t frame = 0;  ///< number in the capture, from 1; 0: told by a log
};

/// A memory region, as its owner's log has registered it (docs/run-log.md, `mr`).
struct Capability {
    std::string owner;  ///< "client", "server"
    std::uint64_t va = 0;
    std::uint64_t length = 0;  ///< bytes
    std::uint32_t lkey = 0;
    std::uint32_t rkey = 0;          ///< 0 where the device gave none: no right is remote
    std::string access;              ///< "local_write remote_write remote_read"
    std::int64_t registered_ns = 0;  ///< the owner's clock, nanoseconds since 1970
    /// Empty where nobody may reach the memory. Of several alike (who, how) the first; those of the
    /// logs stand before those of the wire.
    std::vector<Learned> learned;

    /// With an rkey, and with a right that a peer could use it for.
    bool is_remote() const;
};

class Capabilities {
  public:
    /// Events of the logs, each log's in its order, all of them before the packets; which log comes
    /// first does not matter.
    void learn(const runlog::Event& event);

    /// A packet of the capture. `frame`: what it was decoded from; `number`: of it in the capture,
    /// from 1; `t_ns`: the capture's clock. It tells of a capability where it has
    ///
    ///   - in a ConnectRequest's or ConnectReply's private data rkey (4 bytes), va (8) and length
    ///     (8) of it, big-endian, in a row: what cm/capability.hpp writes behind its mark,
    ///   - in a TCP segment's payload, in the clear, an endpoint (net/endpoint.hpp) with them,
    ///   - a RETH or AtomicETH with the rkey and a va within the region, on its way to the owner
    ///     (to anyone where the owner's log names no GID).
    ///
    /// An rkey may be used again: where it fits several regions of one owner, the one that was
    /// registered last is meant.
    void see(const wire::Packet& packet, util::Bytes frame, std::uint64_t number,
             std::int64_t t_ns);

    /// In the order in which learn() got their `mr` events.
    const std::vector<Capability>& all() const { return all_; }

  private:
    // A region as a message tells of it.
    struct RegionInfo {
        std::uint32_t rkey = 0;
        std::uint64_t va = 0;
        std::uint64_t length = 0;
    };
    // Where on the wire: a Learned without a string of its own, since most packets say nothing new.
    struct WireReference {
        std::string_view how;
        std::uint64_t number = 0;
        std::int64_t t_ns = 0;
    };
    struct Waiting {
        RegionInfo told;
        Learned learned;
    };

    void add(const runlog::Event& event);
    void receive(const runlog::Event& event);
    void see_told(const RegionInfo& told, const WireReference& reference);
    void see_private_data(util::Bytes data, const WireReference& reference);
    void see_use(std::uint32_t rkey, std::uint64_t va, const wire::Packet& packet,
                 const WireReference& reference);
    static void note(Capability& capability, const WireReference& reference);
    bool is_for(const wire::Packet& packet, const std::string& role) const;
    // Of those with the rkey for which `fits` holds the one registered last; nullptr: none.
    template <typename Fits>
    Capability* find(std::uint32_t rkey, Fits fits);

    std::vector<Capability> all_;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_rkey_;  // those that are remote
    std::multimap<std::uint32_t, Waiting> waiting_;  // by rkey: the owner's log is yet to come
    std::map<std::string, wire::Gid> gids_;          // by role
};

}  // namespace timeline
