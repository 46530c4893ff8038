// The connection over which endpoints are exchanged, with or without TLS.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "net/endpoint.hpp"
#include "util/stop_signal.hpp"

namespace net {

/// How long a call may take, and what ends it before.
struct TimeLimit {
    util::StopSignal& stop;
    util::Deadline deadline;
};

class Channel {
  public:
    Channel() = default;
    virtual ~Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    Channel(Channel&&) = delete;
    Channel& operator=(Channel&&) = delete;

    /// All bytes. Throws util::Error when the peer has gone, time is over or a stop was requested,
    /// as does receive().
    virtual void send(util::Bytes bytes, const TimeLimit& limit) = 0;
    /// Exactly as many bytes as there is room for.
    virtual void receive(std::span<std::byte> bytes, const TimeLimit& limit) = 0;
    /// "TCP", "TLS 1.3": for the run log.
    virtual std::string_view name() const = 0;
    /// The other end's address.
    virtual const util::Address& peer() const = 0;
};

void send_endpoint(Channel& channel, const Endpoint& endpoint, const TimeLimit& limit);
/// Parsed, and checked against the channel's peer (check_gid()). What the peer sends instead of what
/// is expected, a refusal with its reason above all, is thrown as util::Error.
Endpoint receive_endpoint(Channel& channel, const TimeLimit& limit);

/// Each side says that it has come so far, and waits until the other one has said so. The first
/// packet must not come to a queue pair before RTR; and the memory must not go before the last.
void barrier(Channel& channel, const TimeLimit& limit);

/// A client says that its requests have completed, and waits until the server has drained.
void finish(Channel& channel, const TimeLimit& limit);

}  // namespace net
