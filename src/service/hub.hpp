// Many TLS connections on one thread. The hub takes them in, shakes hands, hands their messages to
// its handler, and sees to it that none of them can hold up the others: no call waits, whoever has
// not said who it is has little time and is one of a bounded number, and every connection can be
// given a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exchange/message_stream.hpp"
#include "util/deadlines.hpp"
#include "util/poller.hpp"

namespace service {

/// Names a connection and what its handler keeps of it; never used twice.
using Id = std::uint64_t;

enum class Loss : std::uint8_t {
    Closed,    // by the peer, or its machine has vanished
    Late,      // it did not do in time what was expected
    Tls,       // no handshake came about: no or a wrong certificate, another version, garbage
    Protocol,  // it said what the protocol does not have
    Failed,    // what it asked for failed here, or its queue pair broke
};
inline constexpr std::size_t losses = 5;
std::string_view name_of(Loss loss);

/// What the hub tells. Where on_open or on_message throws, the connection is lost, for
/// exchange::ProtocolError as Protocol, for others as Failed.
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
    virtual void on_message(Id id, const exchange::Message& message) = 0;
    /// The deadline that the handler gave has passed.
    virtual void on_late(Id id) = 0;
    /// The connection is gone; on_open may never have been called.
    virtual void on_lost(Id id, const util::Address& peer, Loss loss,
                         const std::string& sentence) = 0;
};

class Hub {
  public:
    /// Whoever has not shown a certificate yet is one of at most `newcomers`: silence costs a
    /// descriptor, so there may be many. Where there is no room, the one that has kept us waiting
    /// longest makes room, if that is `hello_time` at least, from the source that has most of them;
    /// else further ones wait in the kernel. A handshake costs processor time: of those who have
    /// said their ClientHello, at most `handshakes` are listened to at once, and at most
    /// `handshakes_a_source` from one source (an IPv4 address, or the first 64 bits of an IPv6
    /// one), in the order in which they came. Each has `setup_time` to begin, `hello_time` for the
    /// rest of its ClientHello, and `setup_time` for the handshake.
    struct Bounds {
        std::size_t newcomers = 512;
        std::size_t handshakes = 32;
        std::size_t handshakes_a_source = 8;
        std::chrono::milliseconds setup_time{10'000};
        std::chrono::milliseconds hello_time{2000};
    };

    /// Listens. The references must outlive the hub. Throws std::system_error.
    Hub(exchange::TlsContext& tls, const util::Address& address, Bounds bounds, Handler& handler);

    util::Address address() const { return listener_.address(); }
    /// `on_ready` is called whenever `fd` can be read.
    void watch(int fd, std::function<void()> on_ready);
    /// Until a stop is requested.
    void run(util::StopSignal& stop);

    const exchange::Socket& socket(Id id) const;
    /// Between the connection's arrival and its handshake's end.
    std::chrono::nanoseconds handshake_time(Id id) const;

    void send(Id id, util::Bytes message);
    /// The handler is told nothing more of it. What was sent still goes, and the peer gets a second
    /// to read it and close its end.
    void close(Id id);
    /// The same, but on_lost() is called first, and the peer is told the sentence as a refusal
    /// where there is still a way to. Nothing happens where the connection is gone already.
    void lose(Id id, Loss loss, const std::string& sentence);
    /// For on_late(); also for an id whose connection is gone. nullopt: none any more.
    void set_deadline(Id id, util::Deadline deadline) { handler_deadlines_.set(id, deadline); }

  private:
    enum class State : std::uint8_t { Silent, Hello, Waiting, Handshake, Open, Closing, Ended };
    struct Source {
        std::size_t newcomers = 0;
        std::size_t handshakes = 0;
    };
    struct Connection {
        Connection(exchange::TlsContext& tls, exchange::Socket socket, std::string from)
            : stream(tls, std::move(socket)), source(std::move(from)) {}

        exchange::MessageStream stream;
        std::string source;  // a key of sources_
        State state = State::Silent;
        util::Clock::time_point since = util::Clock::now();  // of this state
        std::uint32_t events = EPOLLIN;                      // what the poller looks for
        util::Clock::time_point arrived = util::Clock::now();
        std::chrono::nanoseconds handshake_time{};
    };

    void accept_some();
    void take_in(exchange::Socket socket);
    void look_for_newcomers();
    void begin_handshakes();
    void advance(Id id, Connection& connection);
    void converse(Id id, Connection& connection);
    static void say_farewell(Connection& connection);
    void finish(Id id, Connection& connection);
    void update_poller(Id id, Connection& connection);
    void check_deadlines();
    void leave(Id id, Connection& connection, State state);
    void change(Connection& connection, State state);
    std::size_t newcomers() const { return connections_.size() - open_; }
    std::unordered_map<Id, Connection>::iterator who_makes_room();
    template <typename Call>
    void tell(Id id, Call call);

    exchange::TlsContext& tls_;
    Bounds bounds_;
    Handler& handler_;
    exchange::TcpListener listener_;
    util::Poller poller_;
    util::Deadlines<Id> deadlines_;  // the hub's own
    util::Deadlines<Id> handler_deadlines_;
    std::unordered_map<Id, std::function<void()>> watched_;
    std::unordered_map<Id, Connection> connections_;
    std::unordered_map<std::string, Source> sources_;  // of newcomers
    std::deque<Id> waiting_;                           // for their handshake
    std::size_t handshakes_ = 0;
    std::size_t open_ = 0;
    Id next_ = 1;
    bool is_accepting_ = true;
};

}  // namespace service
