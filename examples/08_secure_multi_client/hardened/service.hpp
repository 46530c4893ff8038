// Lesson 08, hardened, the server: how it handles each message, deadline and loss of a client.
#pragma once

#include <string>

#include <fmt/format.h>

#include "connecting.hpp"
#include "examples/common/program.hpp"
#include "util/signal_fd.hpp"

namespace lesson08 {

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
    std::uint64_t clients = 1000;
    std::uint64_t memory = 16 << 10;
    std::uint64_t setup_time = 10;
    std::uint64_t idle_time = 300;
    std::uint64_t stats = 0;
};

class Service : public Handler {
  public:
    Service(const Options& options, net::TlsContext& tls, runlog::Log& log)
        : options_(options),
          log_(log),
          hub_(tls, options.server.address(),
               {.setup_time = std::chrono::seconds(options.setup_time)}, *this),
          clients_(hub_, statistics_, log, std::chrono::seconds(options.idle_time)),
          connecting_(hub_, clients_, statistics_, log, options.memory) {
        if (!hub_.address().is_any())
            clients_.device_of(hub_.address());
        log_.event("ready", {{"address", hub_.address().host()}, {"port", hub_.address().port()}});
    }

    void run(util::StopSignal& stop, util::SignalFd& usr1) {
        hub_.watch(usr1.fd(), [&] {
            usr1.take();
            write_statistics();
        });
        if (options_.stats > 0)
            set_deadline(stats_id, options_.stats);
        hub_.run(stop);
        log_.note("stopped by a signal");
        write_statistics();
    }

  private:
    // 1. A client has presented its certificate. If there are too many, refuse it over TLS.
    void on_open(Id id) override {
        if (clients_.all.size() >= options_.clients) {
            ++statistics_.refused;
            hub_.send(
                id, net::serialize_refusal(fmt::format(
                        "the server already serves {} clients (--clients).", clients_.all.size())));
            hub_.close(id);
            return;
        }
        clients_.add(id);
        set_deadline(id, options_.setup_time);
    }

    // 2. Each state accepts one message type; any other message ends the connection.
    void on_message(Id id, const net::Message& message) override {
        ServedClient& client = clients_.all.at(id);
        switch (client.state) {
            case State::Exchange:
                net::check_type(message.type, net::MessageType::Endpoint);
                client.times.exchange += client.watch.lap();
                connecting_.begin(client,
                                  net::parse_endpoint(message.body.first<net::endpoint_size>()));
                break;
            case State::Ready:
                net::check_type(message.type, net::MessageType::Ready);
                client.times.exchange += client.watch.lap();
                client.state = State::Serving;
                statistics_.set_up(client.times);
                clients_.log(client, "connected");
                clients_.expect_more(client);
                break;
            case State::Serving:
                net::check_type(message.type, net::MessageType::Done);
                // Its last SEND may not have been polled yet. An invalid one ends the connection.
                clients_.take_completions(client);
                if (!clients_.all.contains(id) || client.is_lost)
                    break;
                clients_.drain(client);
                clients_.take_completions(client);
                break;
            case State::Connecting:
            case State::Draining:
                throw net::ProtocolError("the peer did not wait for the reply to its message.");
        }
    }

    // 3. An error of one client ends only that client.
    void on_lost(Id id, const util::Address& peer, Loss loss, const std::string& text) override {
        const auto it = clients_.all.find(id);
        statistics_.lost(log_, loss, peer, text, it == clients_.all.end() ? 0 : it->second.number);
        if (it == clients_.all.end())
            return;
        it->second.is_lost = true;
        if (it->second.state == State::Connecting)
            hub_.set_deadline(id, std::nullopt);  // Connecting::end() will handle it
        else if (it->second.set)
            clients_.drain(it->second);
        else
            clients_.forget(it->second);
    }

    void on_late(Id id) override {
        if (id == stats_id) {
            set_deadline(id, options_.stats);
            write_statistics();
        } else if (ServedClient& client = clients_.all.at(id); client.state == State::Draining) {
            clients_.on_drained_late(client);
        } else {
            hub_.lose(
                id, Loss::Late,
                client.state == State::Serving
                    ? fmt::format("no SEND arrived for {} s (--idle-time).", options_.idle_time)
                    : fmt::format("the exchange took more than {} s (--setup-time).",
                                  options_.setup_time));
        }
    }

    void set_deadline(Id id, std::uint64_t seconds) {
        hub_.set_deadline(id, util::deadline_in(std::chrono::seconds(seconds)));
    }

    void write_statistics() {
        statistics_.write(log_);
        for (const auto& [id, client] : clients_.all)
            if (client.is_in_log())
                log_.event("client", client.describe());
    }

    static constexpr Id stats_id = 0;  // not used by any connection: --stats

    const Options& options_;
    runlog::Log& log_;
    Statistics statistics_;
    Hub hub_;
    Clients clients_;
    Connecting connecting_;
};

}  // namespace lesson08
