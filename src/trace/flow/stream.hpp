// State of one stream: the packets of one sender to one queue pair.
//
// A stream to queue pair B contains the requests of the peer's queue pair A, which have their own
// PSN space, and A's responses to B's requests, whose PSNs belong to those requests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/latency.hpp"
#include "trace/flow/message.hpp"
#include "trace/flow/outstanding.hpp"
#include "trace/flow/pool.hpp"
#include "trace/flow/request_sequence.hpp"
#include "trace/flow/response_sequence.hpp"

namespace flow {

/// How the stream of the other direction was identified.
enum class Pairing : std::uint8_t {
    None,      ///< not identified
    Deth,      ///< datagrams name both queue pairs
    Cm,        ///< the connection manager's messages
    RunLog,    ///< a program's own log
    AckGuess,  ///< responses had PSNs that only one stream's requests had: a guess
    LeftOver,  ///< the only two unpaired streams between their hosts: a guess
};

/// The first few distinct keys, and how often others occurred.
class KeySet {
  public:
    static constexpr std::size_t capacity = 8;

    void add(std::uint32_t key) {
        for (std::uint8_t i = 0; i < count_; ++i)
            if (keys_[i] == key)
                return;
        if (count_ < capacity)
            keys_[count_++] = key;
        else
            ++others_;
    }
    const std::uint32_t* begin() const { return keys_.data(); }
    const std::uint32_t* end() const { return keys_.data() + count_; }
    std::uint64_t others() const { return others_; }

  private:
    std::array<std::uint32_t, capacity> keys_{};
    std::uint64_t others_ = 0;
    std::uint8_t count_ = 0;
};

constexpr bool is_guess(Pairing pairing) {
    return pairing == Pairing::AckGuess || pairing == Pairing::LeftOver;
}

struct Marks {
    std::uint64_t ce = 0;    ///< IP: congestion experienced
    std::uint64_t fecn = 0;  ///< BTH
    std::uint64_t becn = 0;  ///< BTH, CNPs included
    std::uint64_t cnps = 0;
};

/// Memory pools shared by all streams.
struct Pools {
    Latency::Pages latencies;
    Outstanding::Pages outstanding;
};

struct Stream {
    static constexpr std::uint32_t unknown_qpn = UINT32_MAX;

    StreamKey key;
    /// Number in the order of first packets, from 1; 0: not in use.
    std::uint64_t number = 0;
    PoolIndex peer = no_index;                ///< the other direction
    std::uint32_t src_qpn = unknown_qpn;      ///< the sender's, if known
    std::optional<std::uint64_t> connection;  ///< Connection::id, if its setup was seen
    PathMtu path_mtu = 0;
    Pairing pairing = Pairing::None;
    bool path_mtu_was_seen = false;  ///< in a First or Middle packet: exact
    bool is_closed = false;          ///< another connection uses the key now
    /// From the connection manager or a run log.
    std::optional<wire::Psn> first_psn;
    RetrySettings retry;  ///< of the sender

    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t payload_bytes = 0;
    MessageCounts messages{};
    RequestSequence requests;
    ResponseSequence responses;
    Marks marks;
    std::uint64_t malformed = 0;
    std::uint64_t icrc_checked = 0;
    std::uint64_t icrc_bad = 0;
    KeySet rkeys;

    // Of this stream's requests; the responses are in the peer's stream.
    Outstanding outstanding;
    std::uint64_t unmeasured = 0;  ///< requests without a latency that are not in `outstanding`
    Latency ack;
    Latency read_first;
    Latency read_last;

    bool is_reliable() const {
        return key.transport == wire::Transport::Rc || key.transport == wire::Transport::Xrc;
    }
    /// True if PSNs number one sender's packets to this queue pair consecutively.
    bool is_connected() const { return is_reliable() || key.transport == wire::Transport::Uc; }
    bool is_paired() const { return peer != no_index; }
    void release(Pools& pools);
};

/// What is known about a stream besides its packets, after the last packet.
struct StreamFacts {
    std::uint64_t number = 0;  ///< from Tracker::add()
    StreamKey key;
    std::uint64_t peer = 0;  ///< the other direction's number; 0: unknown
    Pairing pairing = Pairing::None;
    PathMtu path_mtu = 0;                ///< 0: unknown
    std::optional<wire::Psn> first_psn;  ///< from the connection manager or a run log
    /// The capture has the ConnectRequest and the ConnectReply, which `first_psn` is from.
    bool was_set_up = false;
    RetrySettings retry;  ///< of the sender

    /// The PSN that the set-up announced for the first request, if the request with `psn` is not that
    /// one and near it; nullopt otherwise.
    std::optional<wire::Psn> announced_instead_of(wire::Psn psn) const;
};

}  // namespace flow
