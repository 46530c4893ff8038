// Connections set up by the connection manager. Its messages name both queue pairs, the first PSN
// of each direction and the path MTU (IBTA volume 1, 12.6.5 and 12.6.8).
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
    StreamKey to_passive;  ///< from the sender of the ConnectRequest to its receiver
    StreamKey to_active;
    wire::Psn first_to_passive;
    wire::Psn first_to_active;
    PathMtu path_mtu = 0;
    /// For both queue pairs. The timeout in the message is rounded up and includes the time on the
    /// path. The requester's own may be half as long: that half is the value here.
    RetrySettings retry;
    /// From the communication IDs of both ends; distinguishes connections.
    std::uint64_t id = 0;
};

/// Remembers the latest requests until they are replied to.
class Connects {
  public:
    Connects();

    /// `datagram`: the stream of the message. Returns a Connection if the message is the reply to a
    /// request seen before.
    std::optional<Connection> see(const StreamKey& datagram, const wire::Cm& message);

  private:
    struct Request {
        Host from;
        Host to;
        Network network{};
        std::optional<wire::Transport> transport;  // nullopt: unused slot
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
