// Lesson 08, hardened, the server: the life of a connection in the hub, from its first byte to the close.
#pragma once

#include <utility>

#include <fmt/format.h>

#include "hub.hpp"
#include "net/client_hello.hpp"

namespace lesson08 {

inline void Hub::advance(Id id, Connection& connection) {
    try {
        if (connection.is_leaving())
            finish(id, connection);
        else if (connection.state == State::Newcomer &&
                 newcomers_.state_of(id) != Newcomers::State::Handshake)
            look_at_newcomer(id, connection);
        else
            converse(id, connection);
    } catch (const net::ProtocolError& error) {
        lose(id, Loss::Protocol, error.what());
    } catch (const std::exception& error) {
        lose(id, connection.state == State::Open ? Loss::Closed : Loss::Tls, error.what());
    }
}

inline void Hub::look_at_newcomer(Id id, Connection& connection) {
    using enum Newcomers::State;
    const net::Socket& socket = connection.stream.socket();
    if (newcomers_.state_of(id) == Waiting) {
        // The poller watches no events of this socket, so the event means that it was reset.
        lose(id, Loss::Closed, fmt::format("{} has disconnected.", socket.peer.text()));
    } else if (net::look_at_hello(socket) == net::Hello::Part) {
        if (newcomers_.state_of(id) == Silent)
            deadlines_.set(id, util::deadline_in(bounds_.hello_time));
        newcomers_.change(id, Hello);
    } else {
        newcomers_.change(id, Waiting);
        deadlines_.clear(id);
        update_poller(id, connection);
    }
}

inline void Hub::converse(Id id, Connection& connection) {
    if (connection.state == State::Newcomer && connection.stream.handshake()) {
        newcomers_.remove(id);
        connection.state = State::Open;
        ++open_;
        connection.handshake_time = util::Clock::now() - connection.arrived;
        deadlines_.clear(id);
        tell(id, [&] { handler_.on_open(id); });
    }
    while (connection.state == State::Open) {
        const auto message = connection.stream.receive();
        if (!message) {
            connection.stream.flush();
            break;
        }
        tell(id, [&] { handler_.on_message(id, *message); });
    }
    update_poller(id, connection);
}

// An exception of the handler affects only this connection.
template <typename Call>
void Hub::tell(Id id, Call call) {
    try {
        call();
    } catch (const net::ProtocolError& error) {
        lose(id, Loss::Protocol, error.what());
    } catch (const std::exception& error) {
        lose(id, Loss::Failed, error.what());
    }
}

inline void Hub::send(Id id, util::Bytes message) {
    Connection& connection = connections_.at(id);
    connection.stream.send(message);
    update_poller(id, connection);
}

inline void Hub::lose(Id id, Loss loss, const std::string& text) {
    const auto it = connections_.find(id);
    if (it == connections_.end() || it->second.is_leaving())
        return;
    Connection& connection = it->second;
    const util::Address peer = connection.stream.socket().peer;
    if (connection.state == State::Open && loss != Loss::Closed) {
        connection.stream.send(net::serialize_refusal(text));
        leave(id, connection, State::Closing);
    } else if (loss == Loss::Late) {
        leave(id, connection, State::Ended);
        deadlines_.clear(id);
        connections_.erase(it);  // without TLS, no message can be sent
    } else {
        connection.stream.end();  // a TLS alert may still be in flight to the peer
        leave(id, connection, State::Ended);
    }
    handler_.on_lost(id, peer, loss, text);
}

inline void Hub::leave(Id id, Connection& connection, State state) {
    newcomers_.remove(id);
    open_ -= connection.state == State::Open ? 1 : 0;
    connection.state = state;
    if (state == State::Closing)
        say_farewell(connection);
    deadlines_.set(id, util::deadline_in(std::chrono::seconds(1)));
    update_poller(id, connection);
}

// Sends pending data as far as possible without blocking.
inline void Hub::say_farewell(Connection& connection) {
    try {
        if (connection.stream.flush()) {
            connection.stream.end();
            connection.state = State::Ended;
        }
    } catch (const util::Error&) {
        connection.state = State::Ended;  // the peer is gone
    }
}

inline void Hub::finish(Id id, Connection& connection) {
    if (connection.state == State::Closing)
        say_farewell(connection);
    if (net::discard_input(connection.stream.socket())) {
        deadlines_.clear(id);
        connections_.erase(id);
    } else {
        update_poller(id, connection);
    }
}

inline void Hub::update_poller(Id id, Connection& connection) {
    std::uint32_t wanted = EPOLLIN;
    if (connection.state == State::Newcomer && newcomers_.state_of(id) == Newcomers::State::Waiting)
        wanted = 0;
    else if (connection.state == State::Closing ||
             (connection.state != State::Ended && connection.stream.has_unsent()))
        wanted = EPOLLIN | EPOLLOUT;
    if (wanted != std::exchange(connection.events, wanted))
        poller_.change(connection.stream.socket().fd.get(), wanted, id);
}

}  // namespace lesson08
