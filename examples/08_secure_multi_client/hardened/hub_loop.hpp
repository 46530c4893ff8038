// Lesson 08, hardened, the server: the hub's event loop, which also accepts connections.
#pragma once

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "hub.hpp"

namespace lesson08 {

inline void Hub::run(util::StopSignal& stop) {
    watch(stop.fd(), [] {});
    unsigned busy_turns = 0;
    while (!stop.requested()) {
        // 1. Sleep until a descriptor is ready or a deadline passes.
        const util::Deadline own = deadlines_.nearest();
        const util::Deadline handlers = handler_deadlines_.nearest();
        const auto events = poller_.wait(!own        ? handlers
                                         : !handlers ? own
                                                     : std::min(own, handlers));
        // 2. Each event belongs to the listener, a watched descriptor such as the completion
        // channel, or a connection.
        for (const util::Poller::Event& event : events) {
            if (event.key == listener_id)
                accept_some();
            else if (const auto watched = watched_.find(event.key); watched != watched_.end())
                watched->second();
            else if (const auto it = connections_.find(event.key); it != connections_.end())
                advance(event.key, it->second);
        }
        // 3. Check deadlines only when no unread messages are left, but at least every 64 turns.
        busy_turns = events.size() == util::Poller::most ? busy_turns + 1 : 0;
        if (busy_turns % 64 == 0)
            check_deadlines();
        begin_handshakes();
        look_for_room();
    }
}

inline void Hub::check_deadlines() {
    const auto now = util::Clock::now();
    while (const auto id = deadlines_.take_past(now)) {
        const auto it = connections_.find(*id);
        if (it == connections_.end())
            continue;  // the listener, or room_id: look_for_room() follows
        if (it->second.is_leaving())
            connections_.erase(it);
        else
            lose(*id, Loss::Late,
                 newcomers_.state_of(*id) == Newcomers::State::Silent ? "it sent nothing."
                 : newcomers_.state_of(*id) == Newcomers::State::Hello
                     ? "it did not complete its ClientHello in time."
                     : "it did not complete the TLS handshake in time.");
    }
    while (const auto id = handler_deadlines_.take_past(now))
        handler_.on_late(*id);
}

// Accepts a few connections at a time, so that existing connections are not delayed.
inline void Hub::accept_some() {
    try {
        for (int tries = 0; tries < 16; ++tries) {
            std::optional<Id> makes_room;
            if (connections_.size() - open_ >= bounds_.newcomers) {
                makes_room = newcomers_.makes_room();
                if (!makes_room)
                    return;
            }
            auto socket = listener_.accept_now();
            if (!socket)
                return;
            if (makes_room)
                lose(*makes_room, Loss::Late,
                     "it was the slowest when a newer client needed its place.");
            take_in(std::move(*socket));
        }
    } catch (const std::system_error& error) {
        if (error.code().value() != EMFILE && error.code().value() != ENFILE)
            throw;
        // No descriptors left: new connections wait in the kernel for a second.
        deadlines_.set(listener_id, util::deadline_in(std::chrono::seconds(1)));
    }
}

inline void Hub::take_in(net::Socket socket) {
    net::notice_when_gone(socket);
    const Id id = next_++;
    newcomers_.add(id, socket.peer);
    poller_.add(socket.fd.get(), EPOLLIN, id);
    connections_.try_emplace(id, tls_, std::move(socket));
    deadlines_.set(id, util::deadline_in(bounds_.setup_time));
}

inline void Hub::begin_handshakes() {
    while (const auto id = newcomers_.next_handshake()) {
        newcomers_.change(*id, Newcomers::State::Handshake);
        deadlines_.set(*id, util::deadline_in(bounds_.setup_time));
        update_poller(*id, connections_.at(*id));
    }
}

// Stops polling the listener while there is no room.
inline void Hub::look_for_room() {
    const bool is_full = connections_.size() - open_ >= bounds_.newcomers;
    const bool has_room =
        (!is_full || newcomers_.makes_room().has_value()) && !deadlines_.has(listener_id);
    if (is_full && !has_room && !deadlines_.has(room_id))
        deadlines_.set(room_id, util::deadline_in(bounds_.hello_time / 4));
    if (has_room != is_accepting_)
        poller_.change(listener_.fd(), has_room ? std::uint32_t{EPOLLIN} : 0, listener_id);
    is_accepting_ = has_room;
}

}  // namespace lesson08
