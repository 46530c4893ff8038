// Lesson 08, the server: many clients on one thread, each connected over TLS as in lesson 07. The
// server in hardened/ does the same for clients that misbehave.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "resources.hpp"
#include "util/poller.hpp"

namespace {

struct Client {
    std::uint64_t number;      // from 1
    net::TlsChannel channel;   // its constructor does the handshake
    lesson08::PrivateSet set;  // destroyed before the channel
    bool is_done = false;      // the client has said so
    bool is_draining = false;
    std::uint64_t sends = 0;
    Client(std::uint64_t its_number, net::TlsContext& tls, net::Socket socket,
           const net::TimeLimit& limit, const lesson08::SharedDevice& device)
        : number(its_number), channel(tls, std::move(socket), limit), set(device, this) {}
};

struct Server {
    enum Key : std::uint64_t { stop_key = 1 << 30, listener_key, channel_key };  // else: a client

    net::TlsContext& tls;
    runlog::Log& log;
    util::StopSignal& stop;
    util::Address address;
    net::TcpListener listener{address};
    lesson08::SharedDevice device{address};
    util::Poller poller{};
    std::map<std::uint64_t, std::unique_ptr<Client>> clients{};  // by number
    std::uint64_t numbers = 0;

    // 1. The thread sleeps in one place, until a newcomer, a completion or a message arrives.
    void run() {
        poller.add(stop.fd(), EPOLLIN, stop_key);
        poller.add(listener.fd(), EPOLLIN, listener_key);
        poller.add(device.channel->fd, EPOLLIN, channel_key);
        log.event("ready", {{"address", address.host()}, {"port", listener.address().port()}});
        while (!stop.requested())
            for (const util::Poller::Event& event : poller.wait(std::nullopt))
                if (event.key == listener_key)
                    welcome();
                else if (event.key == channel_key)
                    take_events();
                else if (const auto it = clients.find(event.key);
                         it != clients.end() && !it->second->is_draining)
                    hear(*it->second);
        log.note("stopped by a signal");
    }

    // 2. A new client: TLS, endpoints and RTS as in lesson 07. Everybody else waits meanwhile.
    void welcome() {
        attempt(++numbers, [&](const net::TimeLimit& limit) {
            auto socket = listener.accept_now();
            if (!socket)
                return;
            auto client = std::make_unique<Client>(numbers, tls, std::move(*socket), limit, device);
            const net::Endpoint theirs = net::receive_endpoint(client->channel, limit);
            client->set.connect(theirs);
            net::send_endpoint(client->channel, client->set.mine, limit);
            net::barrier(client->channel, limit);
            log.event("psn", lesson08::describe_psn(client->set.mine));
            poller.add(client->channel.socket().fd.get(), EPOLLIN, numbers);
            clients.emplace(numbers, std::move(client));
        });
    }

    // 3. Each event says whose completion queue has completions.
    void take_events() {
        ibv_cq* cq = nullptr;
        void* owner = nullptr;
        while (ibv_get_cq_event(device.channel.get(), &cq, &owner) == 0) {
            ibv_ack_cq_events(cq, 1);
            CHECK_RC(ibv_req_notify_cq(cq, 0));
            take_completions(*static_cast<Client*>(owner));
        }
    }

    void take_completions(Client& client) {
        std::array<ibv_wc, lesson08::PrivateSet::receives> wcs{};
        const int found = ibv_poll_cq(client.set.cq.get(), wcs.size(), wcs.data());
        util::check_rc(found < 0 ? found : 0, "ibv_poll_cq");
        for (const ibv_wc& wc : std::span(wcs).first(static_cast<std::size_t>(found))) {
            --client.set.posted;
            client.sends += wc.status == IBV_WC_SUCCESS ? 1 : 0;
            if (!client.is_draining && wc.status == IBV_WC_SUCCESS)
                client.set.post_receive(wc.wr_id);
            else if (!client.is_draining)
                drain(client);
        }
        if (client.is_draining && client.set.posted == 0)
            release(client);
    }

    // 4. A client says that it is done, or its connection has ended: drain its queue pair.
    void hear(Client& client) {
        attempt(client.number, [&](const net::TimeLimit& limit) {
            std::array<std::byte, net::header_size> message{};
            client.channel.receive(message, limit);
            net::check_type(net::parse_header(message).type, net::MessageType::Done);
            client.is_done = true;
        });
        drain(client);
    }

    void drain(Client& client) {
        client.is_draining = true;
        poller.remove(client.channel.socket().fd.get());
        client.set.drain();
    }

    // 5. All receives have completed: the device uses nothing of this client any more.
    void release(Client& client) {
        log.event("client", {{"client", client.number},
                             {"peer", client.channel.peer().text()},
                             {"state", client.is_done ? "has left" : "is gone"},
                             {"sends", client.sends},
                             {"send_bytes", client.sends * lesson08::message_size}});
        if (client.is_done)
            attempt(client.number, [&](const net::TimeLimit& limit) {
                client.channel.send(net::serialize_header(net::MessageType::Done), limit);
            });
        clients.erase(client.number);
    }

    // An error of one client ends only that client.
    template <typename Call>
    void attempt(std::uint64_t number, Call call) {
        try {
            call({stop, util::deadline_in(std::chrono::seconds(5))});
        } catch (const std::exception& error) {
            log.error(fmt::format("client {}: {}", number, error.what()));
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server", "Lesson 08, server: many clients on one thread.");
    common::ServerOptions options;
    common::SecureOptions secure;
    command_line.add(options);
    command_line.add(secure);
    return command_line.main(
        argc, argv, common::traced([&](runlog::Log& log, util::StopSignal& stop) {
            if (options.address().is_any())
                throw util::Error("the clients share one device: select it with --bind ADDRESS.");
            const auto tls = lesson07::open_tls(net::TlsRole::Server, secure, log);
            Server{*tls, log, stop, options.address()}.run();
            return 0;
        }));
}
