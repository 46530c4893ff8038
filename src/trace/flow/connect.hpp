// Connections set up by the connection manager. Its messages name both queue pairs, the first PSN
// of each direction and the path MTU (IBTA volume 1, 12.6.5 and 12.6.8).
#pragma once

#include <cstddef>
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

struct CommIds {
    std::uint32_t local = 0;   ///< the sender's
    std::uint32_t remote = 0;  ///< the receiver's; 0 in a ConnectRequest
};

/// Returns nullopt if the message names no connection: UD service resolution.
std::optional<CommIds> comm_ids(const wire::Cm& message);

/// The latest ConnectRequests, by the two hosts and the communication ID, with a value for each. A
/// later request may overwrite an earlier one: there are slots for about 1024 at the same time.
template <typename Value>
class ConnectRequests {
  public:
    /// `datagram`: the stream of the message.
    void put(const StreamKey& datagram, std::uint32_t comm_id, const Value& value) {
        slots_[slot_of(datagram.src, datagram.dst, comm_id)] = {.from = datagram.src,
                                                                .to = datagram.dst,
                                                                .network = datagram.network,
                                                                .comm_id = comm_id,
                                                                .value = value};
    }
    /// Returns the value of the request that a message answers; nullptr: it is unknown.
    const Value* answered_by(const StreamKey& datagram, std::uint32_t remote_comm_id) const {
        const Slot& slot = slots_[slot_of(datagram.dst, datagram.src, remote_comm_id)];
        const bool is_it = slot.value && slot.from == datagram.dst && slot.to == datagram.src &&
                           slot.network == datagram.network && slot.comm_id == remote_comm_id;
        return is_it ? &*slot.value : nullptr;
    }

  private:
    struct Slot {
        Host from;
        Host to;
        Network network{};
        std::uint32_t comm_id = 0;
        std::optional<Value> value;  // nullopt: unused
    };
    std::size_t slot_of(const Host& from, const Host& to, std::uint32_t comm_id) const {
        return mixed(mixed(from.low, to.low) ^ mixed(from.high, to.high), comm_id) % slots_.size();
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);
};

class Connects {
  public:
    /// `datagram`: the stream of the message. Returns a Connection if the message is the reply to a
    /// request seen before.
    std::optional<Connection> see(const StreamKey& datagram, const wire::Cm& message);

  private:
    struct Request {
        std::optional<wire::Transport> transport;  // nullopt: not a connection
        std::uint32_t qpn = 0;
        wire::Psn starting_psn;
        PathMtu path_mtu = 0;
        RetrySettings retry;
    };
    ConnectRequests<Request> requests_;
};

}  // namespace flow
