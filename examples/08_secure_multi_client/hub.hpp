// Step 08, the server: many TLS connections and other descriptors on one thread. The hub accepts
// connections, does their handshakes and hands their messages to its handler. No call of it waits for
// one connection alone: what is awaited is a descriptor of one epoll instance, or a deadline.
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

namespace step08 {

/// Why a connection was lost.
enum class Loss : std::uint8_t {
    Closed,    // by the peer, or its machine has vanished
    Late,      // it did not do in time what was expected
    Tls,       // the handshake failed: no or a wrong certificate, another version, garbage
    Protocol,  // it sent what the protocol does not have
    Failed,    // what it asked for failed here, or its queue pair broke
};
inline constexpr std::array<std::string_view, 5> loss_names{"closed", "late", "tls", "protocol",
                                                            "failed"};

/// What the hub calls. Where on_open or on_message throws, the connection is lost, for
/// net::ProtocolError as Protocol, for others as Failed.
class Handler {
  public:
    Handler() = default;
    virtual ~Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    Handler(Handler&&) = delete;
    Handler& operator=(Handler&&) = delete;

    /// A peer has shown its certificate. From here on only the handler's deadlines hold.
    virtual void on_open(Id id) = 0;
    virtual void on_message(Id id, const net::Message& message) = 0;
    /// The deadline that the handler gave has passed.
    virtual void on_late(Id id) = 0;
    /// The connection is gone; on_open may never have been called.
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
    /// `on_ready` is called whenever `fd` can be read.
    void watch(int fd, std::function<void()> on_ready) {
        watched_.emplace(next_, std::move(on_ready));
        poller_.add(fd, EPOLLIN, next_++);
    }
    /// Until a stop is requested.
    void run(util::StopSignal& stop);

    const net::Socket& socket(Id id) const { return connections_.at(id).stream.socket(); }
    /// Between the connection's arrival and its handshake's end.
    std::chrono::nanoseconds handshake_time(Id id) const {
        return connections_.at(id).handshake_time;
    }

    void send(Id id, util::Bytes message);
    /// The handler hears nothing more of it. What was sent still goes, and the peer gets a second to
    /// read it and close its end.
    void close(Id id) { leave(id, connections_.at(id), State::Closing); }
    /// The same, but on_lost() is called first, and the peer is sent `text` as a refusal where that is
    /// possible. Nothing happens where the connection is gone already.
    void lose(Id id, Loss loss, const std::string& text);
    /// For on_late(); also for an id whose connection is gone. nullopt: none any more.
    void set_deadline(Id id, util::Deadline deadline) { handler_deadlines_.set(id, deadline); }

  private:
    enum class State : std::uint8_t { Newcomer, Open, Closing, Ended };
    struct Connection {
        Connection(net::TlsContext& tls, net::Socket socket) : stream(tls, std::move(socket)) {}

        net::MessageStream stream;
        State state = State::Newcomer;
        std::uint32_t events = EPOLLIN;  // that the poller looks for
        util::Clock::time_point arrived = util::Clock::now();
        std::chrono::nanoseconds handshake_time{};

        bool is_leaving() const { return state == State::Closing || state == State::Ended; }
    };
    static constexpr Id listener_id = 0;
    static constexpr Id room_id = std::numeric_limits<Id>::max();  // to look for room again

    // hub_loop.hpp: the loop, and the connections that it takes in
    void check_deadlines();
    void accept_some();
    void take_in(net::Socket socket);
    void begin_handshakes();
    void look_for_room();
    // hub_connection.hpp: what one connection goes through
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
    std::size_t open_ = 0;  // connections in this state
    Id next_ = 1;
    bool is_accepting_ = true;
};

}  // namespace step08

// The definitions.
#include "hub_connection.hpp"  // IWYU pragma: export
#include "hub_loop.hpp"        // IWYU pragma: export
