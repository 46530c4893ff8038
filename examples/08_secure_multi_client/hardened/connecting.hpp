// Lesson 08, hardened, the server: from a client's endpoint to a queue pair in RTS.
#pragma once

#include <exception>
#include <memory>

#include "clients.hpp"
#include "workers.hpp"

namespace lesson08 {

class Connecting {
  public:
    /// `memory`: bytes per client. The references must outlive this object.
    Connecting(Hub& hub, Clients& clients, Statistics& statistics, runlog::Log& log,
               std::size_t memory)
        : hub_(hub), clients_(clients), statistics_(statistics), log_(log), memory_(memory) {
        hub_.watch(workers_.fd(), [this] { workers_.take_results(); });
    }

    // 1. To INIT on this thread, to RTS on a worker that may block: one at a time per client
    // address.
    void begin(ServedClient& client, const net::Endpoint& theirs) {
        net::check_gid(theirs, client.peer);
        client.set = std::make_unique<PrivateSet>(
            clients_.device_of(hub_.socket(client.id).local()), &client, memory_);
        client.dest_qpn = theirs.qpn;
        client.state = State::Connecting;
        // The client stays in `clients_` until end() is called: see Service::on_lost().
        workers_.submit(
            client.peer.host(), [&set = *client.set, theirs] { set.connect(theirs); },
            [this, &client, theirs](const std::exception_ptr& error) {
                end(client, theirs, error);
            });
    }

  private:
    // 2. The queue pair is in RTS and can receive requests: only now send the client its endpoint.
    void end(ServedClient& client, const net::Endpoint& theirs, const std::exception_ptr& error) {
        client.times.qp += client.watch.lap();
        client.state = State::Ready;
        if (client.is_lost) {
            clients_.drain(client);
            return;
        }
        try {
            if (error)
                std::rethrow_exception(error);
            client.is_connected = true;
            statistics_.connected();
            const net::Endpoint& mine = client.set->mine;
            hub_.send(client.id, net::serialize(mine));
            hub_.send(client.id, net::serialize_header(net::MessageType::Ready));
            if (!client.is_in_log())
                return;
            log_.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
            log_.event("exchange", net::describe(theirs, "received", "TLS 1.3"));
            log_.event("exchange", net::describe(mine, "sent", "TLS 1.3"));
        } catch (const std::exception& failure) {
            hub_.lose(client.id, Loss::Failed, failure.what());
        }
    }

    Hub& hub_;
    Clients& clients_;
    Statistics& statistics_;
    runlog::Log& log_;
    std::size_t memory_;
    Workers workers_{4};  // the last member: workers must not outlive what they use
};

}  // namespace lesson08
