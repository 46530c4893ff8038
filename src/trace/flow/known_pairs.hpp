// Queue pairs and their peers as the run logs of their programs name them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "trace/flow/request_sequence.hpp"

namespace flow {

struct KnownQueuePair {
    std::optional<Host> host;  ///< where `qpn` is; nullopt: not known, any
    std::uint32_t qpn = 0;
    std::uint32_t dest_qpn = 0;                      ///< the peer's
    PathMtu path_mtu = 0;                            ///< 0: not known
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
        /// It was connected to that queue pair several times, each with a first PSN of its own.
        bool had_several_first_psns = false;
    };

    void add(const KnownQueuePair& pair);
    bool empty() const { return by_receiver_.empty(); }

    /// Who sends the packets of a connected stream. nullopt where nobody told, or where one host
    /// has several queue pairs for the same QPN of different peers.
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

    Senders by_receiver_;  // told by the receiver: its host and QPN
    Senders by_sender_;    // told by the sender: its host, and the QPN it sends to
};

}  // namespace flow
