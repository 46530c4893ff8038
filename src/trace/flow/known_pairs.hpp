// Queue pairs and their peers, as named in the programs' run logs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/request_sequence.hpp"

namespace flow {

struct KnownQueuePair {
    std::optional<Host> host;  ///< host of `qpn`; nullopt: unknown, any
    std::uint32_t qpn = 0;
    std::uint32_t dest_qpn = 0;                      ///< the peer's
    PathMtu path_mtu = 0;                            ///< 0: unknown
    std::optional<wire::Psn> sq_psn = std::nullopt;  ///< of its first packet
    RetrySettings retry = {};
};

class KnownPairs {
  public:
    struct Sender {
        std::uint32_t qpn = 0;
        PathMtu path_mtu = 0;
        std::optional<wire::Psn> first_psn = std::nullopt;
        RetrySettings retry = {};
        /// It was connected to that queue pair several times, with different first PSNs.
        bool had_several_first_psns = false;
    };

    void add(const KnownQueuePair& pair);
    bool empty() const { return by_receiver_.empty(); }

    /// Returns the sender of a connected stream's packets. nullopt if no log names it, or if one
    /// host has several queue pairs that are connected to the same QPN of different peers.
    std::optional<Sender> sender_of(const StreamKey& stream) const;

  private:
    struct QueuePairId {
        std::optional<Host> host;
        std::uint32_t qpn = 0;
        friend bool operator==(const QueuePairId&, const QueuePairId&) = default;
    };
    struct Hash {
        std::size_t operator()(const QueuePairId& place) const;
    };
    using Senders = std::unordered_map<QueuePairId, std::optional<Sender>, Hash>;

    static void put(Senders& senders, const QueuePairId& place, const Sender& sender);
    static std::optional<Sender> find(const Senders& senders, const Host& host, std::uint32_t qpn);

    Senders by_receiver_;  // from the receiver's log: by its host and QPN
    Senders by_sender_;    // from the sender's log: by its host and dest_qpn
};

}  // namespace flow
