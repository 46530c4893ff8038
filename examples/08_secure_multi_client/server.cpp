// Step 08, the passive side: many clients at once on one thread. Each has a protection domain,
// memory, a completion queue and a queue pair of its own; what they share is the device, a
// listening socket, and the channel that says whose completion queue has something. The one verb
// that may block, ibv_modify_qp to RTR, is called on other threads.
#include <map>

#include <fmt/format.h>

#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/secure.hpp"
#include "served_client.hpp"
#include "service/workers.hpp"
#include "shared_device.hpp"
#include "util/error.hpp"
#include "util/signal_fd.hpp"

namespace {

using exchange::MessageType;
using service::Id;
using service::Loss;
using service::Phase;
using std::chrono::seconds;
using step08::PrivateSet;
using step08::Report;
using step08::ServedClient;
using step08::State;

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
    std::uint64_t clients = 1000;
    std::uint64_t memory = 16 << 10;
    std::uint64_t setup_time = 10;
    std::uint64_t idle_time = 300;
    std::uint64_t stats = 0;
};

class Server : public service::Handler {
  public:
    Server(const Options& options, exchange::TlsContext& tls, const util::Address& address,
           runlog::Log& log)
        : options_(options),
          log_(log),
          hub_(tls, address, {.setup_time = seconds(options.setup_time)}, *this) {
        if (!address.is_any())
            open_device(address);
        hub_.watch(workers_.fd(), [this] { workers_.take_results(); });
        log_.event("ready", {{"address", hub_.address().host()}, {"port", hub_.address().port()}});
    }

    void run(util::StopSignal& stop, util::SignalFd& usr1) {
        hub_.watch(usr1.fd(), [&] {
            usr1.take();
            write_statistics();
        });
        if (options_.stats > 0)
            hub_.set_deadline(stats_id, util::deadline_in(seconds(options_.stats)));
        hub_.run(stop);
        log_.note("stopped by a signal");
        write_statistics();
    }

  private:
    // 1. A client has shown its certificate. One too many is told so, in secret.
    void on_open(Id id) override {
        const exchange::Socket& socket = hub_.socket(id);
        if (clients_.size() >= options_.clients) {
            ++statistics_.refused;
            hub_.send(id,
                      exchange::serialize_refusal(fmt::format(
                          "the server already serves {} clients (--clients).", clients_.size())));
            hub_.close(id);
            return;
        }
        ServedClient& client = clients_[id];
        client.id = id;
        client.number = ++numbers_;
        client.peer = socket.peer;
        client.times = {exchange::round_trip(socket), hub_.handshake_time(id)};
        hub_.set_deadline(id, util::deadline_in(seconds(options_.setup_time)));
    }

    // 2. Each state has one message that leads to the next; any other ends the connection.
    void on_message(Id id, const exchange::Message& message) override {
        ServedClient& client = clients_.at(id);
        switch (client.state) {
            case State::Exchange:
                exchange::check_type(message.type, MessageType::Endpoint);
                client.time(Phase::Exchange);
                begin_to_connect(client, exchange::parse_endpoint(
                                             message.body.first<exchange::endpoint_size>()));
                break;
            case State::Connecting:
                throw exchange::ProtocolError("the peer goes on before it has been answered.");
            case State::Ready:
                exchange::check_type(message.type, MessageType::Ready);
                client.time(Phase::Exchange);
                client.state = State::Serving;
                statistics_.set_up(client.times);
                if (client.is_in_full())
                    log_.event("client", client.describe("connected"));
                wait_for_more(client);
                break;
            case State::Serving:
                exchange::check_type(message.type, MessageType::Done);
                // Its last SEND may not have been looked at yet. A wrong one ends the connection.
                take_completions(client);
                if (!clients_.contains(id) || client.is_lost)
                    break;
                drain(client);
                take_completions(client);
                break;
            case State::Draining:
                throw exchange::ProtocolError("the peer goes on after it was done.");
        }
    }

    void begin_to_connect(ServedClient& client, const exchange::Endpoint& theirs) {
        exchange::check_gid(theirs, client.peer);
        const util::Address local = hub_.socket(client.id).local();
        open_device(local);
        const verbs::Gid gid = device_.gid_for(local);
        client.set = std::make_unique<PrivateSet>(device_.context(), device_.channel(), &client,
                                                  options_.memory);
        const exchange::Endpoint mine = client.set->prepare(gid);
        client.dest_qpn = theirs.qpn;
        client.psn = mine.psn;
        client.state = State::Connecting;
        // Nobody forgets the client while it is connecting: see on_lost().
        workers_.submit(
            client.peer.host(),
            [&set = *client.set, gid, mine, theirs] { set.connect(gid, mine, theirs); },
            [this, &client, mine, theirs](const std::exception_ptr& error) {
                connected(client, mine, theirs, error);
            });
    }

    void connected(ServedClient& client, const exchange::Endpoint& mine,
                   const exchange::Endpoint& theirs, const std::exception_ptr& error) {
        client.time(Phase::Qp);
        client.state = State::Ready;
        if (client.is_lost) {
            drain(client);
            return;
        }
        try {
            if (error)
                std::rethrow_exception(error);
            client.is_connected = true;
            statistics_.connected();
            hub_.send(client.id, exchange::serialize(mine));
            hub_.send(client.id, exchange::serialize_header(MessageType::Ready));
            if (client.is_in_full())
                client.write_set(log_, theirs, mine);
        } catch (const std::exception& failure) {
            hub_.lose(client.id, Loss::Failed, failure.what());
        }
    }

    // 3. An event names the client whose queue has something. As many completions as the queue
    // holds are taken, then it is another one's turn: nobody's SENDs keep the others waiting.
    void on_completions() {
        void* owner = nullptr;
        for (int turns = 0; turns < 64 && device_.next_event(owner) != nullptr; ++turns)
            take_completions(*static_cast<ServedClient*>(owner));
    }

    void take_completions(ServedClient& client) {
        std::array<ibv_wc, PrivateSet::receives> room{};
        for (const ibv_wc& wc : client.set->poll(room))
            take(client, wc);
        if (client.state == State::Draining && client.set->posted == 0)
            part(client);
    }

    void take(ServedClient& client, const ibv_wc& wc) {
        --client.set->posted;
        if (client.is_in_full())
            log_.event("wc", verbs::describe(wc));
        if (wc.status == IBV_WC_SUCCESS && wc.byte_len == Report::size) {
            count(client, Report::parse(client.set->slot(wc.wr_id)));
            if (client.state == State::Draining)
                return;
            client.set->post_receive(wc.wr_id);
            if (client.state == State::Serving)
                wait_for_more(client);
        } else if (client.state != State::Draining) {
            ++statistics_.errors;
            hub_.lose(client.id, Loss::Failed, step08::objection_to(wc));
        }
    }

    // The SEND was seen here. Of the WRITEs and READs there is only the client's word.
    void count(ServedClient& client, const Report& told) {
        client.sends.add(1, Report::size);
        statistics_.sends.add(1, Report::size);
        statistics_.writes.add(told.writes, told.write_bytes);
        statistics_.reads.add(told.reads, told.read_bytes);
    }

    // 4. In ERR a queue pair gives back what is still posted. Once all of that has come, nothing of
    // it is on its way any more, and it can go.
    void drain(ServedClient& client) {
        client.state = State::Draining;
        verbs::to_error(client.set->qp.get());
        hub_.set_deadline(client.id, util::deadline_in(seconds(5)));
    }

    void part(ServedClient& client) {
        if (client.is_in_full())
            log_.event("qp_state", verbs::query_state(client.set->qp.get()));
        client.set.reset();
        if (!client.is_lost) {
            hub_.send(client.id, exchange::serialize_header(MessageType::Done));
            hub_.close(client.id);
        }
        forget(client);
    }

    void forget(ServedClient& client) {
        if (client.is_in_full())
            log_.event("client", client.describe(client.is_lost ? "is gone" : "has left"));
        if (client.is_connected)
            statistics_.left();
        hub_.set_deadline(client.id, std::nullopt);
        clients_.erase(client.id);
    }

    // 5. What goes wrong with one client ends there.
    void on_lost(Id id, const util::Address& peer, Loss loss, const std::string& text) override {
        const auto it = clients_.find(id);
        statistics_.lost(log_, loss, peer, text, it == clients_.end() ? 0 : it->second.number);
        if (it == clients_.end())
            return;
        it->second.is_lost = true;
        if (it->second.state == State::Connecting)
            hub_.set_deadline(id, std::nullopt);  // connected() goes on with it
        else if (it->second.set)
            drain(it->second);
        else
            forget(it->second);
    }

    void on_late(Id id) override {
        if (id == stats_id) {
            hub_.set_deadline(id, util::deadline_in(seconds(options_.stats)));
            write_statistics();
        } else if (ServedClient& client = clients_.at(id); client.state == State::Draining) {
            take_completions(client);  // that there is something may not have been told yet
            if (clients_.contains(id)) {
                log_.note(fmt::format("QP {:#08x} keeps receives back: it goes all the same",
                                      client.set->qp->qp_num));
                part(client);
            }
        } else if (client.state == State::Serving) {
            hub_.lose(id, Loss::Late,
                      fmt::format("there was no SEND for {} s (--idle-time).", options_.idle_time));
        } else {
            hub_.lose(id, Loss::Late,
                      fmt::format("the exchange took more than {} s (--setup-time).",
                                  options_.setup_time));
        }
    }

    void wait_for_more(const ServedClient& client) {
        hub_.set_deadline(client.id, util::deadline_in(seconds(options_.idle_time)));
    }

    void open_device(const util::Address& address) {
        if (device_.open(address, log_))
            hub_.watch(device_.channel()->fd, [this] { on_completions(); });
    }

    void write_statistics() {
        statistics_.write(log_);
        for (const auto& [id, client] : clients_)
            if (client.is_in_full())
                log_.event("client", client.describe());
    }

    static constexpr Id stats_id = 0;  // no connection's: --stats

    const Options& options_;
    runlog::Log& log_;
    service::Statistics statistics_;
    step08::SharedDevice device_;
    std::map<Id, ServedClient> clients_;
    std::uint64_t numbers_ = 0;
    service::Hub hub_;
    service::Workers workers_{4};  // the last: no call outlives what it works with
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    util::SignalFd usr1{SIGUSR1};
    util::need_open_files(options.clients + service::Hub::Bounds().newcomers + 32,
                          fmt::format("--clients {}", options.clients));
    const auto tls = step07::open_tls(exchange::TlsRole::Server, options.secure, log);
    Server server(options, *tls, options.server.address(), log);
    server.run(stop, usr1);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Step 08, server: many clients on one thread, each with a queue pair of its own.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    command_line.number("--clients", options.clients, 1, 100'000,
                        "Serve so many clients at a time");
    command_line.number("--memory", options.memory, 1, 1u << 30,
                        "Bytes of memory lent to each client");
    command_line.number("--setup-time", options.setup_time, 1, 3600,
                        "Seconds for the TLS handshake, and for the exchange");
    command_line.number("--idle-time", options.idle_time, 1, 86'400,
                        "Seconds without a SEND until a client is dropped");
    command_line.number("--stats", options.stats, 0, 86'400,
                        "Statistics every N seconds (0: on SIGUSR1 and at the end)");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
