// The connection used to exchange endpoints, with or without TLS.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "net/endpoint.hpp"
#include "util/stop_signal.hpp"

namespace net {

/// Time limit of a call, and the signal that ends it earlier.
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

    /// Sends all bytes. send() and receive() throw util::Error if the peer has closed the
    /// connection, the deadline has passed or a stop was requested.
    virtual void send(util::Bytes bytes, const TimeLimit& limit) = 0;
    /// Receives exactly as many bytes as `bytes` holds.
    virtual void receive(std::span<std::byte> bytes, const TimeLimit& limit) = 0;
    /// "TCP", "TLS 1.3": for the run log.
    virtual std::string_view name() const = 0;
    /// The peer's address.
    virtual const util::Address& peer() const = 0;
};

void send_endpoint(Channel& channel, const Endpoint& endpoint, const TimeLimit& limit);
/// Receives and parses an endpoint, and checks it against the channel's peer (check_gid()). Throws
/// util::Error if the peer sends anything else, such as a refusal with its reason.
Endpoint receive_endpoint(Channel& channel, const TimeLimit& limit);

/// Tells the peer that this side is ready, and waits for the peer to do so. The first packet must
/// not reach a queue pair before RTR, and memory must stay registered until the last one.
void barrier(Channel& channel, const TimeLimit& limit);

/// A client reports that its requests have completed, and waits until the server has drained.
void finish(Channel& channel, const TimeLimit& limit);

}  // namespace net
