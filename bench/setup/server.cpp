// The passive side of the connection set-up measurement: answers by rdma_cm, over TCP and over TLS,
// one connection at a time, until it is stopped.
#include <cerrno>
#include <map>
#include <memory>
#include <poll.h>
#include <vector>

#include "bench/setup/by_hand.hpp"
#include "bench/setup/method.hpp"
#include "cm/capability.hpp"
#include "cm/events.hpp"
#include "exchange/psn_source.hpp"
#include "exchange/tls.hpp"
#include "lesson/program.hpp"
#include "lesson/secure.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

using namespace bench;

constexpr int peer_access = IBV_ACCESS_REMOTE_WRITE;
constexpr std::chrono::milliseconds patience_time{5000};

util::Address address_of(const lesson::ServerOptions& options) {
    if (const auto address = options.local.resolve(options.port, false))
        return *address;
    throw util::Error("which device is measured? Say so by --bind ADDRESS or --device NAME.");
}

// Step 01's server.
class CmSide {
  public:
    explicit CmSide(util::Address address)
        : channel_(cm::make_channel()), listener_(cm::make_id(channel_.get())) {
        util::check_errno(rdma_bind_addr(listener_.get(), address.get()), "rdma_bind_addr");
        util::check_errno(rdma_listen(listener_.get(), 16), "rdma_listen");
    }

    int fd() const { return channel_->fd; }
    bool is_idle() const { return sessions_.empty(); }

    void take_event(util::StopSignal& stop) {
        cm::Event event = cm::next_event(channel_.get(), stop, util::Clock::now());
        if (!event)
            return;
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST:
                accept(*sessions_.try_emplace(id, std::make_unique<Session>(cm::Id{id}))
                            .first->second);
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id can go only when its events are acknowledged
                sessions_.erase(id);
                break;
            default:
                break;
        }
    }

  private:
    struct Session {
        cm::Id id;
        Resources resources;
        cm::Qp qp{};

        explicit Session(cm::Id client)
            : id(std::move(client)), resources(id->verbs, IBV_ACCESS_LOCAL_WRITE | peer_access) {}
    };

    static void accept(Session& session) {
        ibv_qp_init_attr attributes = session.resources.qp_attributes();
        session.qp = cm::make_qp(session.id.get(), session.resources.pd.get(), attributes);
        const auto bytes =
            cm::Capability{.va = reinterpret_cast<std::uintptr_t>(session.resources.memory.data()),
                           .length = memory_size,
                           .rkey = session.resources.mr->rkey}
                .serialize();
        rdma_conn_param parameters{};
        parameters.private_data = bytes.data();
        parameters.private_data_len = bytes.size();
        parameters.responder_resources = 1;
        parameters.rnr_retry_count = 7;
        util::check_errno(rdma_accept(session.id.get(), &parameters), "rdma_accept");
    }

    cm::EventChannel channel_;
    cm::Id listener_;
    std::map<rdma_cm_id*, std::unique_ptr<Session>> sessions_;
};

// The server of steps 06 and 07.
void serve(const Method& method, exchange::Channel& channel, const util::Address& local,
           const verbs::DevicePort& device, util::StopSignal& stop) {
    verbs::DevicePort opened;
    if (method.device == Device::OfTheConnection)
        opened = verbs::open_device_of(local);
    const verbs::DevicePort& used = opened.context ? opened : device;
    const Resources resources(used.context.get(), IBV_ACCESS_LOCAL_WRITE | peer_access);
    const verbs::Qp qp = make_qp(resources);
    const exchange::Endpoint mine =
        endpoint_of(resources, *qp, used.gid, is_tls(method.way) ? exchange::random_psn() : 0x5e1f);

    const exchange::Patience patience{stop, util::deadline_in(patience_time)};
    const exchange::Endpoint theirs = exchange::receive_endpoint(channel, patience);
    exchange::send_endpoint(channel, mine, patience);
    to_rts(qp.get(), used.gid, mine, theirs, peer_access);
    exchange::meet(channel, patience);
    exchange::meet(channel, patience);
}

struct Listener {
    const Method* method;
    exchange::TcpListener socket;
};

class Server {
  public:
    Server(const lesson::ServerOptions& options, const lesson::SecureOptions& secure,
           runlog::Log& log, util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          address_(address_of(options)),
          full_(lesson::open_tls(exchange::TlsRole::Server, secure, log)),
          resuming_(lesson::open_tls(exchange::TlsRole::Server, secure, log)),
          device_(verbs::open_device_of(address_)),
          control_(address_),
          cm_(address_for(methods[0], address_)) {
        resuming_->resume_sessions();
        for (const Method& method : methods)
            if (method.way != Way::Cm)
                listeners_.push_back(
                    {&method, exchange::TcpListener(address_for(method, address_))});
    }

    void run() {
        log_.event("ready", {{"address", address_.host()}, {"port", address_.port()}});
        while (!stop_.requested())
            try {
                step();
            } catch (const std::exception& error) {  // one connection's failure
                log_.error(error.what());
            }
    }

  private:
    // Connections first: the control connection is answered when there is none, so that a client
    // which has the answer begins with a server that has nothing left to do.
    void step() {
        std::vector<pollfd> fds{{stop_.fd(), POLLIN, 0}, {cm_.fd(), POLLIN, 0}};
        for (const Listener& listener : listeners_)
            fds.push_back({listener.socket.fd(), POLLIN, 0});
        const std::size_t others = fds.size();
        if (!client_)
            fds.push_back({control_.fd(), POLLIN, 0});
        else if (cm_.is_idle())
            fds.push_back({client_->socket().fd.get(), POLLIN, 0});
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
            util::check_errno(-1, "poll");
        if (fds[1].revents != 0)
            return cm_.take_event(stop_);
        for (std::size_t i = 0; i < listeners_.size(); ++i)
            if (fds[2 + i].revents != 0)
                return accept(listeners_[i]);
        if (fds.size() > others && fds[others].revents != 0)
            answer();
    }

    void accept(Listener& listener) {
        const Method& method = *listener.method;
        const exchange::Patience patience{stop_, util::deadline_in(patience_time)};
        auto socket = listener.socket.accept(patience);
        if (!socket)
            return;
        const util::Address local = socket->local();
        if (!is_tls(method.way)) {
            exchange::TcpChannel channel(std::move(*socket));
            return serve(method, channel, local, device_, stop_);
        }
        exchange::TlsChannel channel(method.way == Way::TlsResumed ? *resuming_ : *full_,
                                     std::move(*socket), patience);
        serve(method, channel, local, device_, stop_);
    }

    void answer() {
        const exchange::Patience patience{stop_, util::deadline_in(patience_time)};
        if (!client_) {
            client_ = std::make_unique<exchange::TcpChannel>(*control_.accept(patience));
            return;
        }
        try {
            exchange::meet(*client_, patience);
        } catch (const util::Error&) {  // it has gone; the next one may come
            client_.reset();
        }
    }

    runlog::Log& log_;
    util::StopSignal& stop_;
    util::Address address_;
    std::unique_ptr<exchange::TlsContext> full_, resuming_;
    verbs::DevicePort device_;
    exchange::TcpListener control_;
    std::unique_ptr<exchange::TcpChannel> client_;
    CmSide cm_;
    std::vector<Listener> listeners_;
};

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line("server",
                                     "Connection set-up, the passive side: see bench/setup/run.");
    lesson::ServerOptions options;
    options.port = default_port;
    lesson::SecureOptions secure;
    command_line.add(options);
    command_line.add(secure);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Server(options, secure, log, stop).run();
        return 0;
    });
}
