// Step 08, the passive side: many clients at once on one thread. Each has a protection domain,
// memory, a completion queue and a queue pair of its own; what they share is the device, a
// listening socket, and the channel that says whose completion queue has something.
#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "exchange/psn_source.hpp"
#include "lesson/program.hpp"
#include "lesson/secure.hpp"
#include "private_set.hpp"
#include "service/hub.hpp"
#include "service/statistics.hpp"
#include "util/error.hpp"
#include "util/signal_fd.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

namespace {

using exchange::MessageType;
using service::Id;
using service::Loss;
using step08::PrivateSet;
using step08::Report;

struct Options {
    lesson::ServerOptions server;
    lesson::SecureOptions secure;
    std::uint64_t clients = 1000;
    std::uint64_t memory = 16 << 10;
    std::uint64_t setup_time = 10;
    std::uint64_t idle_time = 300;
    std::uint64_t stats = 0;
};

// Where a client is, once TLS has let it in. Each state has what it waits for, and a deadline.
enum class State : std::uint8_t {
    Exchange,  // its endpoint
    Ready,     // that it can receive
    Serving,   // its SENDs, until it is done
    Draining,  // until its queue pair has given back every receive
};
constexpr std::array<std::string_view, 4> state_names{"exchange", "ready", "serving", "draining"};

struct Client {
    Id id = 0;
    std::uint64_t number = 0;
    util::Address peer;
    State state = State::Exchange;
    bool is_connected = false;
    bool is_lost = false;  // without a goodbye
    std::unique_ptr<PrivateSet> set;
    std::uint32_t dest_qpn = 0;
    std::uint32_t psn = 0;
    service::Traffic sends;
    service::PhaseTimes times{};
    service::Stopwatch watch;
};

class Server : public service::Handler {
  public:
    Server(const Options& options, exchange::TlsContext& tls, const util::Address& address,
           runlog::Log& log)
        : options_(options),
          log_(log),
          hub_(tls, address, {.setup_time = std::chrono::seconds(options.setup_time)}, *this) {
        if (!address.is_any())
            gid_for(address);
        log_.event("ready", {{"address", hub_.address().host()}, {"port", hub_.address().port()}});
    }

    void run(util::StopSignal& stop, util::SignalFd& usr1) {
        hub_.watch(usr1.fd(), [&] {
            usr1.take();
            write_statistics();
        });
        if (options_.stats > 0)
            on_late(stats_id);
        hub_.run(stop);
        log_.note("stopped by a signal");
        write_statistics();
    }

  private:
    static constexpr Id stats_id = 0;             // of no connection: the next regular statistics
    static constexpr std::uint64_t in_full = 10;  // clients whose every event is in the log

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
        Client& client = clients_[id];
        client.id = id;
        client.number = ++numbers_;
        client.peer = socket.peer;
        client.times = {exchange::round_trip(socket), hub_.handshake_time(id)};
        hub_.set_deadline(id, util::deadline_in(std::chrono::seconds(options_.setup_time)));
    }

    void on_message(Id id, const exchange::Message& message) override {
        Client& client = clients_.at(id);
        switch (client.state) {
            case State::Exchange:
                exchange::check_type(message.type, MessageType::Endpoint);
                time(client, service::Phase::Exchange);
                connect(client,
                        exchange::parse_endpoint(message.body.first<exchange::endpoint_size>()));
                time(client, service::Phase::Qp);
                client.state = State::Ready;
                break;
            case State::Ready:
                exchange::check_type(message.type, MessageType::Ready);
                time(client, service::Phase::Exchange);
                statistics_.connected(client.times);
                client.is_connected = true;
                client.state = State::Serving;
                wait_for_more(client);
                describe(client, "connected");
                break;
            case State::Serving:
                exchange::check_type(message.type, MessageType::Done);
                drain(client);
                break;
            case State::Draining:
                throw exchange::ProtocolError("the peer goes on after it was done.");
        }
    }

    // 2. Its queue pair can receive before the client knows where it is.
    void connect(Client& client, const exchange::Endpoint& theirs) {
        const verbs::Gid gid = gid_for(hub_.socket(client.id).local());
        client.set = std::make_unique<PrivateSet>(device_->context.get(), channel_.get(), &client,
                                                  options_.memory);
        PrivateSet& set = *client.set;
        const ibv_port_attr port = verbs::query_port(device_->context.get(), gid.port);
        exchange::Endpoint mine{
            .qpn = set.qp->qp_num,
            .psn = exchange::random_psn(),
            .lid = port.lid,
            .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu)),
            .va = reinterpret_cast<std::uintptr_t>(set.memory.data()),
            .length = set.memory.size(),
            .rkey = set.memory_mr->rkey};
        std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
        verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
        std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
        verbs::to_init(set.qp.get(), gid.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        for (std::uint64_t wr_id = 0; wr_id < PrivateSet::receives; ++wr_id)
            set.post_receive(wr_id);
        verbs::to_rtr(set.qp.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
        verbs::to_rts(set.qp.get(), mine.psn);
        client.dest_qpn = theirs.qpn;
        client.psn = mine.psn;
        if (client.number <= in_full) {
            log_.event("exchange", exchange::describe(theirs, "received", "TLS 1.3"));
            log_.event("mr", verbs::describe(*set.memory_mr, step08::access_rights));
            log_.event("qp", verbs::describe(*set.qp, PrivateSet::cap));
            log_.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
            log_.event("qp_state", verbs::query_state(set.qp.get()));
            log_.event("exchange", exchange::describe(mine, "sent", "TLS 1.3"));
        }
        hub_.send(client.id, exchange::serialize(mine));
        hub_.send(client.id, exchange::serialize_header(MessageType::Ready));
    }

    // 3. One channel for all: an event names the client whose queue has something. As many as its
    // queue holds are taken, then it is another one's turn.
    void on_completions() {
        for (int turns = 0; turns < 64; ++turns) {
            ibv_cq* cq = nullptr;
            void* owner = nullptr;
            if (ibv_get_cq_event(channel_.get(), &cq, &owner) != 0)
                return;  // EAGAIN: the channel does not block
            ibv_ack_cq_events(cq, 1);
            util::check_rc(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
            take_completions(*static_cast<Client*>(owner));
        }
    }

    void take_completions(Client& client) {
        std::array<ibv_wc, PrivateSet::receives> completions{};
        const int found =
            ibv_poll_cq(client.set->cq.get(), PrivateSet::receives, completions.data());
        if (found < 0)
            throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
        for (const ibv_wc& wc : std::span(completions).first(static_cast<std::size_t>(found)))
            take(client, wc);
        if (client.state == State::Draining && client.set->posted == 0)
            part(client);
    }

    void take(Client& client, const ibv_wc& wc) {
        --client.set->posted;
        if (client.number <= in_full)
            log_.event("wc", verbs::describe(wc));
        if (client.state == State::Draining)
            return;
        if (wc.status != IBV_WC_SUCCESS || wc.byte_len != Report::size) {
            ++statistics_.errors;
            hub_.lose(client.id, Loss::Failed,
                      wc.status != IBV_WC_SUCCESS
                          ? fmt::format("a receive completed with {}.", verbs::name_of(wc.status))
                          : fmt::format("a SEND of {} bytes is no report.", wc.byte_len));
            return;
        }
        const Report report = Report::parse(client.set->slot(wc.wr_id));
        client.sends.add(1, wc.byte_len);
        statistics_.sends.add(1, wc.byte_len);
        statistics_.writes.add(report.writes, report.write_bytes);
        statistics_.reads.add(report.reads, report.read_bytes);
        client.set->post_receive(wc.wr_id);
        wait_for_more(client);
    }

    // 4. Goodbye. In ERR the queue pair gives back what is still posted; when that has come nothing
    // of it is on its way any more, and it can go.
    void drain(Client& client) {
        client.state = State::Draining;
        verbs::to_error(client.set->qp.get());
        hub_.set_deadline(client.id, util::deadline_in(std::chrono::seconds(2)));
    }

    void part(Client& client) {
        if (client.number <= in_full)
            log_.event("qp_state", verbs::query_state(client.set->qp.get()));
        client.set.reset();
        if (!client.is_lost) {
            hub_.send(client.id, exchange::serialize_header(MessageType::Done));
            hub_.close(client.id);
        }
        forget(client);
    }

    void forget(Client& client) {
        describe(client, client.is_lost ? "is gone" : "has left");
        if (client.is_connected)
            statistics_.left();
        hub_.set_deadline(client.id, std::nullopt);
        clients_.erase(client.id);
    }

    // 5. What goes wrong with one client ends there.
    void on_lost(Id id, const util::Address& peer, Loss loss, const std::string& text) override {
        const auto it = clients_.find(id);
        const auto i = static_cast<std::size_t>(loss);
        ++statistics_.lost[i];
        if (++losses_in_log_[i] <= in_full) {
            runlog::Fields fields{{"peer", peer.text()}, {"loss", name_of(loss)}, {"text", text}};
            if (it != clients_.end())
                fields.emplace_back("client", it->second.number);
            log_.event("lost", std::move(fields));
        }
        if (it == clients_.end())
            return;
        it->second.is_lost = true;
        if (it->second.set)
            drain(it->second);
        else
            forget(it->second);
    }

    void on_late(Id id) override {
        if (id == stats_id) {
            hub_.set_deadline(id, util::deadline_in(std::chrono::seconds(options_.stats)));
            write_statistics();
            return;
        }
        Client& client = clients_.at(id);
        if (client.state == State::Draining) {
            log_.note(fmt::format("QP {:#08x} has not given back {} receives: it goes all the same",
                                  client.set->qp->qp_num, client.set->posted));
            part(client);
        } else {
            hub_.lose(
                id, Loss::Late,
                client.state == State::Serving
                    ? fmt::format("there was no SEND for {} s (--idle-time).", options_.idle_time)
                    : fmt::format("the exchange took more than {} s (--setup-time).",
                                  options_.setup_time));
        }
    }

    void wait_for_more(const Client& client) {
        hub_.set_deadline(client.id, util::deadline_in(std::chrono::seconds(options_.idle_time)));
    }

    static void time(Client& client, service::Phase phase) {
        client.times[static_cast<std::size_t>(phase)] += client.watch.lap();
    }

    // The device is the one whose address the first client has reached; all clients use it.
    verbs::Gid gid_for(const util::Address& address) {
        if (device_)
            return device_->gid.address().host() == address.host()
                       ? device_->gid
                       : verbs::choose_gid(device_->context.get(), address);
        device_ = verbs::open_device_of(address);
        ibv_context* context = device_->context.get();
        log_.event("device", verbs::describe_device(context, device_->gid.port, &device_->gid));
        channel_.reset(
            util::check_ptr(ibv_create_comp_channel(context), "ibv_create_comp_channel"));
        util::check_errno(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
        hub_.watch(channel_->fd, [this] { on_completions(); });
        return device_->gid;
    }

    void describe(const Client& client, std::string_view state) {
        if (client.number > in_full)
            return;
        runlog::Fields fields{
            {"client", client.number}, {"peer", client.peer.text()}, {"state", state}};
        if (client.set) {
            fields.emplace_back("qpn", client.set->qp->qp_num);
            fields.emplace_back("dest_qpn", client.dest_qpn);
            fields.emplace_back("sq_psn", client.psn);
        }
        fields.emplace_back("sends", client.sends.operations);
        fields.emplace_back("send_bytes", client.sends.bytes);
        log_.event("client", std::move(fields));
    }

    void write_statistics() {
        statistics_.write(log_);
        for (const auto& [id, client] : clients_)
            describe(client, state_names[static_cast<std::size_t>(client.state)]);
        losses_in_log_ = {};
    }

    const Options& options_;
    runlog::Log& log_;
    service::Statistics statistics_;
    std::array<std::uint64_t, service::losses> losses_in_log_{};  // since the last statistics
    std::optional<verbs::DevicePort> device_;
    verbs::CompChannel channel_;
    std::map<Id, Client> clients_;
    std::uint64_t numbers_ = 0;
    service::Hub hub_;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    util::SignalFd usr1{SIGUSR1};
    const std::uint64_t needed = options.clients + service::Hub::Bounds().newcomers + 32;
    if (const std::uint64_t limit = util::raise_open_files(); limit < needed)
        throw util::Error(
            fmt::format("--clients {} takes {} open files, and {} are allowed: raise the limit "
                        "(ulimit -Hn), or "
                        "serve fewer clients.",
                        options.clients, needed, limit));
    const auto tls = lesson::open_tls(exchange::TlsRole::Server, options.secure, log);
    Server server(options, *tls,
                  options.server.local.resolve(options.server.port, false)
                      .value_or(util::Address::any(options.server.port)),
                  log);
    server.run(stop, usr1);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
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
