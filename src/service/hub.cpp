#include "service/hub.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "exchange/client_hello.hpp"

namespace service {
namespace {

using namespace std::chrono_literals;

constexpr Id listener_id = 0;
constexpr Id room_id = std::numeric_limits<Id>::max();  // the deadline to look for room again
constexpr auto farewell = 1s;
constexpr auto until_descriptors_are_back = 1s;

// Who has one address of an IPv6 network has them all.
std::string source_of(const util::Address& peer) {
    const auto bytes = peer.ipv6_bytes();
    constexpr std::size_t network = 8;
    constexpr std::array<std::byte, 12> ipv4{
        {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::byte{0xff}, std::byte{0xff}}};
    const bool is_ipv4 = std::ranges::equal(std::span(bytes).first<12>(), ipv4);
    return {reinterpret_cast<const char*>(bytes.data()), is_ipv4 ? bytes.size() : network};
}

}  // namespace

std::string_view name_of(Loss loss) {
    constexpr std::array<std::string_view, losses> names{"closed", "late", "tls", "protocol",
                                                         "failed"};
    return names[static_cast<std::size_t>(loss)];
}

Hub::Hub(exchange::TlsContext& tls, const util::Address& address, Bounds bounds, Handler& handler)
    : tls_(tls), bounds_(bounds), handler_(handler), listener_(address) {
    poller_.add(listener_.fd(), EPOLLIN, listener_id);
}

void Hub::watch(int fd, std::function<void()> on_ready) {
    watched_.emplace(next_, std::move(on_ready));
    poller_.add(fd, EPOLLIN, next_++);
}

void Hub::run(util::StopSignal& stop) {
    watch(stop.fd(), [] {});
    unsigned busy_turns = 0;
    while (!stop.requested()) {
        util::Deadline nearest = deadlines_.nearest();
        if (const auto other = handler_deadlines_.nearest();
            other && (!nearest || *other < *nearest))
            nearest = other;
        const auto events = poller_.wait(nearest);
        for (const util::Poller::Event& event : events) {
            if (event.key == listener_id)
                accept_some();
            else if (const auto watched = watched_.find(event.key); watched != watched_.end())
                watched->second();
            else if (const auto it = connections_.find(event.key); it != connections_.end())
                advance(event.key, it->second);
        }
        // Nobody is late whose news may lie here unread; but who never falls silent can be, too.
        busy_turns = events.size() == util::Poller::most ? busy_turns + 1 : 0;
        if (busy_turns % 64 == 0)
            check_deadlines();
        begin_handshakes();
        look_for_newcomers();
    }
}

// A few at a time: those who are here already come in between.
void Hub::accept_some() {
    try {
        for (int tries = 0; tries < 16; ++tries) {
            auto makes_room = connections_.end();
            if (newcomers() >= bounds_.newcomers) {
                makes_room = who_makes_room();
                if (makes_room == connections_.end())
                    return;
            }
            auto socket = listener_.accept_now();
            if (!socket)
                return;
            if (makes_room != connections_.end())
                lose(makes_room->first, Loss::Late,
                     "it kept the server waiting while others came.");
            take_in(std::move(*socket));
        }
    } catch (const std::system_error& error) {
        if (error.code().value() != EMFILE && error.code().value() != ENFILE)
            throw;
        // No descriptor is left. Whoever comes waits in the kernel; in a moment we look again.
        deadlines_.set(listener_id, util::deadline_in(until_descriptors_are_back));
    }
}

void Hub::take_in(exchange::Socket socket) {
    exchange::notice_when_gone(socket);
    const Id id = next_++;
    const int fd = socket.fd.get();
    std::string source = source_of(socket.peer);
    ++sources_[source].newcomers;
    connections_.try_emplace(id, tls_, std::move(socket), std::move(source));
    poller_.add(fd, EPOLLIN, id);
    deadlines_.set(id, util::deadline_in(bounds_.setup_time));
}

std::unordered_map<Id, Hub::Connection>::iterator Hub::who_makes_room() {
    const auto before = util::Clock::now() - bounds_.hello_time;
    auto found = connections_.end();
    for (auto it = connections_.begin(); it != connections_.end(); ++it) {
        const Connection& one = it->second;
        const bool is_awaited = one.state == State::Silent || one.state == State::Hello ||
                                one.state == State::Handshake;
        if (!is_awaited || one.since > before)
            continue;
        const auto rank = [&](const Connection& of) {
            return std::pair(sources_.at(of.source).newcomers, -of.since.time_since_epoch());
        };
        if (found == connections_.end() || rank(one) > rank(found->second))
            found = it;
    }
    return found;
}

void Hub::look_for_newcomers() {
    const bool is_full = newcomers() >= bounds_.newcomers;
    const bool has_room =
        (!is_full || who_makes_room() != connections_.end()) && !deadlines_.has(listener_id);
    if (is_full && !has_room && !deadlines_.has(room_id))
        deadlines_.set(room_id, util::deadline_in(bounds_.hello_time / 4));
    if (has_room != is_accepting_)
        poller_.change(listener_.fd(), has_room ? std::uint32_t{EPOLLIN} : 0, listener_id);
    is_accepting_ = has_room;
}

void Hub::begin_handshakes() {
    for (auto next = waiting_.begin();
         next != waiting_.end() && handshakes_ < bounds_.handshakes;) {
        const auto it = connections_.find(*next);
        const bool is_gone = it == connections_.end() || it->second.state != State::Waiting;
        if (!is_gone && sources_.at(it->second.source).handshakes >= bounds_.handshakes_a_source) {
            ++next;
            continue;
        }
        next = waiting_.erase(next);
        if (is_gone)
            continue;
        change(it->second, State::Handshake);
        deadlines_.set(it->first, util::deadline_in(bounds_.setup_time));
        update_poller(it->first, it->second);
    }
}

void Hub::advance(Id id, Connection& connection) {
    try {
        if (connection.state == State::Silent || connection.state == State::Hello) {
            if (exchange::look_at_hello(connection.stream.socket()) == exchange::Hello::Part) {
                if (connection.state == State::Silent)
                    deadlines_.set(id, util::deadline_in(bounds_.hello_time));
                change(connection, State::Hello);
                return;
            }
            change(connection, State::Waiting);
            waiting_.push_back(id);
            deadlines_.clear(id);
            update_poller(id, connection);
            return;
        }
        if (connection.state == State::Waiting) {
            // Nothing of it is looked for: this is the news that it has been reset.
            lose(id, Loss::Closed,
                 fmt::format("{} has gone.", connection.stream.socket().peer.text()));
            return;
        }
        if (connection.state == State::Closing || connection.state == State::Ended) {
            finish(id, connection);
            return;
        }
        converse(id, connection);
    } catch (const exchange::ProtocolError& error) {
        lose(id, Loss::Protocol, error.what());
    } catch (const std::exception& error) {
        lose(id, connection.state == State::Open ? Loss::Closed : Loss::Tls, error.what());
    }
}

void Hub::converse(Id id, Connection& connection) {
    if (connection.state == State::Handshake && connection.stream.handshake()) {
        change(connection, State::Open);
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

// Whatever the handler throws is about this connection only.
template <typename Call>
void Hub::tell(Id id, Call call) {
    try {
        call();
    } catch (const exchange::ProtocolError& error) {
        lose(id, Loss::Protocol, error.what());
    } catch (const std::exception& error) {
        lose(id, Loss::Failed, error.what());
    }
}

// What is to be said goes out as far as it can at present.
void Hub::say_farewell(Connection& connection) {
    try {
        if (connection.stream.flush()) {
            connection.stream.end();
            connection.state = State::Ended;
        }
    } catch (const util::Error&) {
        connection.state = State::Ended;  // it is gone, and so is who could have read the rest
    }
}

void Hub::finish(Id id, Connection& connection) {
    if (connection.state == State::Closing)
        say_farewell(connection);
    if (exchange::discard_input(connection.stream.socket())) {
        deadlines_.clear(id);
        connections_.erase(id);
    } else {
        update_poller(id, connection);
    }
}

void Hub::update_poller(Id id, Connection& connection) {
    std::uint32_t wanted = EPOLLIN;
    if (connection.state == State::Waiting)
        wanted = 0;
    else if (connection.state == State::Closing ||
             (connection.state != State::Ended && connection.stream.has_unsent()))
        wanted = EPOLLIN | EPOLLOUT;
    if (wanted != std::exchange(connection.events, wanted))
        poller_.change(connection.stream.socket().fd.get(), wanted, id);
}

void Hub::check_deadlines() {
    const auto now = util::Clock::now();
    while (const auto id = deadlines_.take_past(now)) {
        const auto it = connections_.find(*id);
        if (it == connections_.end())
            continue;  // the listener's, or room_id: look_for_newcomers() follows
        if (it->second.state == State::Closing || it->second.state == State::Ended)
            connections_.erase(it);
        else
            lose(*id, Loss::Late,
                 it->second.state == State::Silent ? "it said nothing at all."
                 : it->second.state == State::Hello
                     ? "it did not complete its ClientHello in time."
                     : "it did not complete the TLS handshake in time.");
    }
    while (const auto id = handler_deadlines_.take_past(now))
        handler_.on_late(*id);
}

const exchange::Socket& Hub::socket(Id id) const {
    return connections_.at(id).stream.socket();
}

std::chrono::nanoseconds Hub::handshake_time(Id id) const {
    return connections_.at(id).handshake_time;
}

void Hub::send(Id id, util::Bytes message) {
    Connection& connection = connections_.at(id);
    connection.stream.send(message);
    update_poller(id, connection);
}

// Whoever is in the first four states is a newcomer.
void Hub::change(Connection& connection, State state) {
    const auto source = sources_.find(connection.source);
    const auto count = [&](State of, std::size_t by) {
        if (of == State::Open)
            open_ += by;
        if (of == State::Handshake) {
            handshakes_ += by;
            source->second.handshakes += by;
        }
        if (of <= State::Handshake)
            source->second.newcomers += by;
    };
    if (state == connection.state)
        return;
    count(state, 1);
    count(connection.state, std::size_t{0} - 1);
    if (connection.state <= State::Handshake && source->second.newcomers == 0)
        sources_.erase(source);
    connection.state = state;
    connection.since = util::Clock::now();
}

void Hub::leave(Id id, Connection& connection, State state) {
    change(connection, state);
    if (state == State::Closing)
        say_farewell(connection);
    deadlines_.set(id, util::deadline_in(farewell));
    update_poller(id, connection);
}

void Hub::close(Id id) {
    leave(id, connections_.at(id), State::Closing);
}

void Hub::lose(Id id, Loss loss, const std::string& sentence) {
    const auto it = connections_.find(id);
    if (it == connections_.end() || it->second.state == State::Closing ||
        it->second.state == State::Ended)
        return;
    Connection& connection = it->second;
    const util::Address peer = connection.stream.socket().peer;
    if (connection.state == State::Open && loss != Loss::Closed) {
        connection.stream.send(exchange::serialize_refusal(sentence));
        leave(id, connection, State::Closing);
    } else if (loss == Loss::Late) {
        leave(id, connection, State::Ended);
        deadlines_.clear(id);
        connections_.erase(it);  // without TLS there is nothing it could be told
    } else {
        connection.stream.end();  // an alert may be on its way, and may still be read
        leave(id, connection, State::Ended);
    }
    handler_.on_lost(id, peer, loss, sentence);
}

}  // namespace service
