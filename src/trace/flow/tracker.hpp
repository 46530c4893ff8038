// Follows the packets of a capture, queue pair by queue pair.
//
// Memory is bounded: the number of streams and the number of pages for times are fixed. If a packet
// begins one more stream, the least recently used stream is dropped. No memory is allocated while
// packets are added.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "trace/flow/ack_index.hpp"
#include "trace/flow/connect.hpp"
#include "trace/flow/conversation.hpp"
#include "trace/flow/known_pairs.hpp"
#include "trace/flow/table.hpp"
#include "wire/packet.hpp"

namespace flow {

struct Limits {
    static constexpr std::size_t least_streams = 16;
    static constexpr std::size_t most_streams = std::size_t{1} << 24;

    /// least_streams .. most_streams; a connection has two. 32768 streams with their latencies take
    /// about 50 MiB.
    std::size_t streams = 32768;
};

class Tracker {
  public:
    explicit Tracker(const Limits& limits = Limits());

    /// Call before the first packet.
    void know(const KnownQueuePair& pair) { known_.add(pair); }

    /// `time`: since 1970. `wire_length`: bytes of the frame on the wire. Returns the number of the
    /// packet's stream, from 1, or 0 if it has none.
    std::uint64_t add(std::chrono::nanoseconds time, const wire::Packet& packet,
                      std::size_t wire_length);

    /// Call after the last packet. Pairs the remaining streams.
    void finish();

    const Totals& totals() const { return totals_; }
    std::size_t streams() const { return table_.size(); }

    /// Calls visit for each conversation, in the order of their first packets.
    void for_each(const std::function<void(const Conversation&)>& visit) const;
    /// Calls visit for each stream in the table, in the order of their numbers.
    void for_each_stream(const std::function<void(const StreamFacts&)>& visit) const;
    /// The stream that has the key now; nullopt: none.
    std::optional<StreamFacts> facts_of(const StreamKey& key) const;

  private:
    PoolIndex stream_of(const StreamKey& key);
    PoolIndex marked_stream(const StreamKey& key) const;
    PoolIndex make(const StreamKey& key);
    void evict(PoolIndex index);
    void remove(PoolIndex index);

    void count(Stream& stream, std::int64_t time, const wire::Packet& packet,
               std::size_t wire_length);
    void request(PoolIndex index, std::int64_t time, const wire::Packet& packet);
    Novelty place(Stream& stream, std::int64_t time, const wire::Packet& packet);
    void await_answer(PoolIndex index, std::int64_t time, const wire::Packet& packet);
    void response(PoolIndex index, std::int64_t time, const wire::Packet& packet);
    static void learn_from_read_response(Stream& requester, const wire::Packet& packet);
    void settle(Stream& stream, std::int64_t time, const wire::Packet& packet);
    void settle_read(Stream& stream, std::int64_t time, const wire::OpcodeInfo& opcode);
    static void learn_path_mtu(Stream& stream, PathMtu path_mtu, bool was_seen);

    void pair_by_knowledge(PoolIndex index);
    void pair_by_psn(PoolIndex response, wire::Psn psn);
    void connect(const Connection& connection);
    bool is_of_another(PoolIndex index, std::uint64_t connection, wire::Psn first) const;
    void retire(PoolIndex index);
    void link(PoolIndex a, PoolIndex b, Pairing pairing);
    void unlink(PoolIndex index);

    StreamFacts facts(const Stream& stream) const;
    Conversation conversation(PoolIndex index) const;
    Direction direction(const Stream& stream) const;
    Requests requests(const Stream& stream) const;
    bool is_folded(const Stream& stream) const;
    bool is_empty(const Stream& stream) const;
    static bool begins_later(const Stream& stream, const Stream& peer);

    StreamTable table_;
    Pools pools_;
    AckIndex ack_index_;
    Connects connects_;
    KnownPairs known_;
    Totals totals_;
    // The last two streams, usually both directions of one conversation.
    std::array<PoolIndex, 2> recent_{no_index, no_index};
};

}  // namespace flow
