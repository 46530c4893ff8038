// Connections as the connection manager makes them: its messages name both queue pairs, the first
// PSN of each direction and the path MTU (IBTA volume 1, 12.6.5 and 12.6.8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/flow/key.hpp"
#include "trace/flow/request_sequence.hpp"
#include "wire/cm.hpp"
#include "wire/psn.hpp"

namespace flow {

/// How long a requester waits for a response, and how often it retransmits.
struct RetrySettings {
    std::optional<std::int64_t> ack_timeout_ns;
    std::optional<std::uint32_t> retry_count;
};

struct Connection {
    StreamKey to_passive;  ///< from who asked for the connection to who was asked
    StreamKey to_active;
    wire::Psn first_to_passive;
    wire::Psn first_to_active;
    PathMtu path_mtu = 0;
    /// Of both queue pairs. The message has the timeout rounded up, with the time on the path: the
    /// requester's own may be half as long, which is what stands here.
    RetrySettings retry;
    /// Of both ends' communication IDs: another connection has another.
    std::uint64_t id = 0;
};

/// Remembers the latest requests until they are replied to.
class Connects {
  public:
    Connects();

    /// `datagram`: the stream that the message came in. A Connection when the message is the reply
    /// to a request that was seen.
    std::optional<Connection> see(const StreamKey& datagram, const wire::Cm& message);

  private:
    struct Request {
        Host from;
        Host to;
        Network network{};
        std::optional<wire::Transport> transport;  // nullopt: no request here
        std::uint32_t comm_id = 0;
        std::uint32_t qpn = 0;
        wire::Psn starting_psn;
        PathMtu path_mtu = 0;
        RetrySettings retry;
    };
    Request& place_of(const Host& from, const Host& to, std::uint32_t comm_id);

    std::vector<Request> requests_;
};

}  // namespace flow
