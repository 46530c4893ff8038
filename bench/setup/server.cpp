// The server of the connection set-up measurement: serves rdma_cm, TCP and TLS, one connection at a
// time, until it is stopped.
#include <cerrno>
#include <memory>
#include <poll.h>
#include <vector>

#include "bench/setup/by_hand.hpp"
#include "bench/setup/cm_listener.hpp"
#include "bench/setup/method.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/secure.hpp"
#include "net/tls.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

using namespace bench;

constexpr std::uint32_t chosen_psn = 0x5e1f00;  // lesson 06's
constexpr std::chrono::milliseconds time_limit{5000};

util::Address address_of(const common::ServerOptions& options) {
    if (const auto address = options.local.resolve(options.port, false))
        return *address;
    throw util::Error("no device is chosen: give --bind ADDRESS or --device NAME.");
}

// The server of lessons 06 and 07.
void serve(const Method& method, net::Channel& channel, const util::Address& local,
           const rdma::DevicePort& device, util::StopSignal& stop) {
    rdma::DevicePort opened;
    if (method.device == Device::OfTheConnection)
        opened = rdma::open_device_of(local);
    const rdma::DevicePort& used = opened.context ? opened : device;
    const Resources resources(used.context.get(), server_access);
    const rdma::Qp qp = make_qp(resources);
    const net::Endpoint mine = endpoint_of(
        resources, *qp, used.gid, is_tls(method.exchange) ? lesson07::random_psn() : chosen_psn);

    const net::TimeLimit limit{stop, util::deadline_in(time_limit)};
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    net::send_endpoint(channel, mine, limit);
    to_rts(qp.get(), used.gid, mine, theirs, IBV_ACCESS_REMOTE_WRITE);
    net::barrier(channel, limit);
    net::barrier(channel, limit);
}

struct Listener {
    const Method* method;
    net::TcpListener socket;
};

class Server {
  public:
    Server(const common::ServerOptions& options, const common::SecureOptions& secure,
           runlog::Log& log, util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          address_(address_of(options)),
          full_(lesson07::open_tls(net::TlsRole::Server, secure, log)),
          resuming_(lesson07::open_tls(net::TlsRole::Server, secure, log)),
          device_(rdma::open_device_of(address_)),
          control_(address_),
          cm_(address_for(methods[0], address_)) {
        resuming_->resume_sessions();
        for (const Method& method : methods)
            if (method.exchange != Exchange::Cm)
                listeners_.push_back({&method, net::TcpListener(address_for(method, address_))});
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
    // Connections have priority: the control connection gets its reply when there is none, so that
    // a client with the reply finds an idle server.
    void step() {
        std::vector<pollfd> fds{{stop_.fd(), POLLIN, 0}, {cm_.fd(), POLLIN, 0}};
        for (const Listener& listener : listeners_)
            fds.push_back({listener.socket.fd(), POLLIN, 0});
        if (kept_.channel)
            fds.push_back({kept_.channel->socket().fd.get(), POLLIN, 0});
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
        if (kept_.channel && fds[others - 1].revents != 0)
            return serve_kept();
        if (fds.size() > others && fds[others].revents != 0)
            answer();
    }

    void accept(Listener& listener) {
        const Method& method = *listener.method;
        const net::TimeLimit limit{stop_, util::deadline_in(time_limit)};
        auto socket = listener.socket.accept(limit);
        if (!socket)
            return;
        const util::Address local = socket->local();
        if (!is_tls(method.exchange)) {
            net::TcpChannel channel(std::move(*socket));
            return serve(method, channel, local, device_, stop_);
        }
        auto channel = std::make_unique<net::TlsChannel>(
            method.exchange == Exchange::TlsResumed ? *resuming_ : *full_, std::move(*socket),
            limit);
        if (method.exchange == Exchange::TlsKept)
            kept_ = {&method, std::move(channel)};  // further data on it wakes step()
        else
            serve(method, *channel, local, device_, stop_);
    }

    void serve_kept() {
        try {
            serve(*kept_.method, *kept_.channel, address_, device_, stop_);
        } catch (const util::Error&) {  // its client has disconnected, and reports failures itself
            kept_ = {};
        }
    }

    void answer() {
        const net::TimeLimit limit{stop_, util::deadline_in(time_limit)};
        if (!client_) {
            if (auto socket = control_.accept(limit))
                client_ = std::make_unique<net::TcpChannel>(std::move(*socket));
            return;
        }
        try {
            net::barrier(*client_, limit);
        } catch (const util::Error&) {  // it has disconnected; the next one may connect
            client_.reset();
        }
    }

    runlog::Log& log_;
    util::StopSignal& stop_;
    util::Address address_;
    std::unique_ptr<net::TlsContext> full_, resuming_;
    rdma::DevicePort device_;
    net::TcpListener control_;
    std::unique_ptr<net::TcpChannel> client_;
    struct Kept {
        const Method* method = nullptr;
        std::unique_ptr<net::TlsChannel> channel;
    } kept_;
    CmListener cm_;
    std::vector<Listener> listeners_;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Connection set-up, the server: see bench/setup/run.");
    common::ServerOptions options;
    options.port = default_port;
    common::SecureOptions secure;
    command_line.add(options);
    command_line.add(secure);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Server(options, secure, log, stop).run();
        return 0;
    });
}
