// Lesson 08, hardened, the server: many TLS connections and other descriptors on one thread. The hub accepts
// connections, runs their handshakes and passes their messages to its handler. It never blocks on a
// single connection: it waits for one epoll instance or a deadline.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/message_stream.hpp"
#include "newcomers.hpp"
#include "util/deadlines.hpp"
#include "util/poller.hpp"

namespace lesson08 {

/// Why a connection was lost.
enum class Loss : std::uint8_t {
    Closed,    // by the peer, or the peer's host has vanished
    Late,      // missed a deadline
    Tls,       // failed handshake: missing or wrong certificate, other version, invalid data
    Protocol,  // invalid message
    Failed,    // a request of the peer failed here, or its queue pair broke
};
inline constexpr std::array<std::string_view, 5> loss_names{"closed", "late", "tls", "protocol",
                                                            "failed"};

/// The hub's callbacks. If on_open or on_message throws, the hub closes the connection:
/// net::ProtocolError counts as Protocol, other exceptions as Failed.
class Handler {
  public:
    Handler() = default;
    virtual ~Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    Handler(Handler&&) = delete;
    Handler& operator=(Handler&&) = delete;

    /// The peer has presented its certificate. From now on only the handler's deadlines apply.
    virtual void on_open(Id id) = 0;
    virtual void on_message(Id id, const net::Message& message) = 0;
    /// The deadline set by the handler has passed.
    virtual void on_late(Id id) = 0;
    /// The connection is lost; on_open may not have been called before.
    virtual void on_lost(Id id, const util::Address& peer, Loss loss, const std::string& text) = 0;
};

class Hub {
  public:
    /// Listens. The references must outlive the hub. Throws std::system_error.
    Hub(net::TlsContext& tls, const util::Address& address, Bounds bounds, Handler& handler)
        : tls_(tls), bounds_(bounds), handler_(handler), listener_(address), newcomers_(bounds) {
        poller_.add(listener_.fd(), EPOLLIN, listener_id);
    }

    util::Address address() const { return listener_.address(); }
    /// Calls `on_ready` whenever `fd` is readable.
    void watch(int fd, std::function<void()> on_ready) {
        watched_.emplace(next_, std::move(on_ready));
        poller_.add(fd, EPOLLIN, next_++);
    }
    /// Runs until a stop is requested.
    void run(util::StopSignal& stop);

    const net::Socket& socket(Id id) const { return connections_.at(id).stream.socket(); }
    /// Returns the time from accepting the connection to the end of its handshake.
    std::chrono::nanoseconds handshake_time(Id id) const {
        return connections_.at(id).handshake_time;
    }

    void send(Id id, util::Bytes message);
    /// Closes the connection without further callbacks. Pending data is still sent, and the peer
    /// has a second to read it and close its end.
    void close(Id id) { leave(id, connections_.at(id), State::Closing); }
    /// The same, but calls on_lost() first and sends the peer `text` as a refusal if possible. Does
    /// nothing if the connection is already gone.
    void lose(Id id, Loss loss, const std::string& text);
    /// Sets the deadline for on_late(), even if the connection is gone. nullopt: no deadline.
    void set_deadline(Id id, util::Deadline deadline) { handler_deadlines_.set(id, deadline); }

  private:
    enum class State : std::uint8_t { Newcomer, Open, Closing, Ended };
    struct Connection {
        Connection(net::TlsContext& tls, net::Socket socket) : stream(tls, std::move(socket)) {}

        net::MessageStream stream;
        State state = State::Newcomer;
        std::uint32_t events = EPOLLIN;  // that the poller waits for
        util::Clock::time_point arrived = util::Clock::now();
        std::chrono::nanoseconds handshake_time{};

        bool is_leaving() const { return state == State::Closing || state == State::Ended; }
    };
    static constexpr Id listener_id = 0;
    static constexpr Id room_id = std::numeric_limits<Id>::max();  // when to check for room again

    // hub_loop.hpp: the loop, and accepting connections
    void check_deadlines();
    void accept_some();
    void take_in(net::Socket socket);
    void begin_handshakes();
    void look_for_room();
    // hub_connection.hpp: the life of a connection
    void advance(Id id, Connection& connection);
    void look_at_newcomer(Id id, Connection& connection);
    void converse(Id id, Connection& connection);
    template <typename Call>
    void tell(Id id, Call call);
    void leave(Id id, Connection& connection, State state);
    static void say_farewell(Connection& connection);
    void finish(Id id, Connection& connection);
    void update_poller(Id id, Connection& connection);

    net::TlsContext& tls_;
    Bounds bounds_;
    Handler& handler_;
    net::TcpListener listener_;
    util::Poller poller_;
    util::Deadlines<Id> deadlines_;  // the hub's own
    util::Deadlines<Id> handler_deadlines_;
    std::unordered_map<Id, std::function<void()>> watched_;
    std::unordered_map<Id, Connection> connections_;
    Newcomers newcomers_;
    std::size_t open_ = 0;  // number of connections in state Open
    Id next_ = 1;
    bool is_accepting_ = true;
};

}  // namespace lesson08

// The definitions.
#include "hub_connection.hpp"  // IWYU pragma: export
#include "hub_loop.hpp"        // IWYU pragma: export
