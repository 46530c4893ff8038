#include "bench/setup/connect.hpp"

#include "bench/setup/by_hand.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/secure.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "util/check.hpp"

namespace bench {
namespace {

constexpr std::uint32_t chosen_psn = 0xc11e00;  // lesson 06's

void write_one_byte(ibv_qp* qp, Resources& resources, std::uint64_t va, std::uint32_t rkey,
                    const net::TimeLimit& limit) {
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(resources.memory.data()),
                  .length = 1,
                  .lkey = resources.mr->lkey};
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = va;
    wr.wr.rdma.rkey = rkey;
    ibv_send_wr* refused = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &refused));
    rdma::expect_success(resources.completions.next(limit.stop, limit.deadline),
                         "the first RDMA_WRITE");
}

}  // namespace

void Stopwatch::lap(Phase phase) {
    const auto now = util::Clock::now();
    sample.phases[static_cast<std::size_t>(phase)] = now - last_;
    sample.total = now - start_;
    if (phase != Phase::FirstByte)
        sample.connected = sample.total;
    last_ = now;
}

Client::Client(const common::ClientOptions& options, const common::SecureOptions& secure,
               runlog::Log& log, util::StopSignal& stop)
    : stop_(stop),
      timeout_(options.timeout),
      server_(options.resolve_server()),
      control_(net::connect_tcp(server_, options.local.resolve(0, server_.is_ipv6()), limit())),
      full_(lesson07::open_tls(net::TlsRole::Client, secure, log)),
      resuming_(lesson07::open_tls(net::TlsRole::Client, secure, log)),
      device_(rdma::open_device_of(control_.socket().local())),
      events_(rdma::make_channel()) {
    resuming_->resume_sessions();
}

net::TimeLimit Client::limit() const {
    return {stop_, util::deadline_in(timeout_)};
}

Sample Client::connect(const Method& method) {
    net::barrier(control_, limit());
    return method.exchange == Exchange::Cm ? by_cm(method) : by_hand(method);
}

// Lesson 01's client.
Sample Client::by_cm(const Method& method) {
    util::Address server = address_for(method, server_);
    Stopwatch watch;
    const rdma::CmId id = rdma::make_id(events_.get());
    const auto expect = [&](rdma_cm_event_type wanted) {
        return rdma::expect_event(events_.get(), wanted, server, stop_,
                                  util::deadline_in(timeout_));
    };
    rdma::resolve_address(id.get(), nullptr, server, stop_, timeout_);
    CHECK_ERRNO(rdma_resolve_route(id.get(), static_cast<int>(timeout_.count())));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    watch.lap(Phase::Connect);

    Resources resources(id->verbs, 0);
    ibv_qp_init_attr attributes = resources.qp_attributes();
    const rdma::CmQp qp = rdma::make_qp(id.get(), resources.pd.get(), attributes);
    watch.lap(Phase::Resources);

    rdma_conn_param parameters{};
    parameters.initiator_depth = 1;
    parameters.retry_count = 7;
    parameters.rnr_retry_count = 7;
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));
    rdma::CmEvent established = expect(RDMA_CM_EVENT_ESTABLISHED);
    const auto& answer = established->param.conn;
    const auto remote = rdma::Capability::parse(std::as_bytes(
        std::span(static_cast<const char*>(answer.private_data), answer.private_data_len)));
    established.reset();
    watch.lap(Phase::Exchange);

    write_one_byte(id->qp, resources, remote.va, remote.rkey, limit());
    watch.lap(Phase::FirstByte);
    CHECK_ERRNO(rdma_disconnect(id.get()));
    expect(RDMA_CM_EVENT_DISCONNECTED);
    return watch.sample;
}

// The client of lessons 06 and 07. Opens its channel first.
Sample Client::by_hand(const Method& method) {
    const bool is_kept = method.exchange == Exchange::TlsKept;
    Stopwatch watch;
    if (is_kept && kept_)
        return over(*kept_, method, kept_->socket().local(), watch);

    net::Socket socket = net::connect_tcp(address_for(method, server_), std::nullopt, limit());
    const util::Address local = socket.local();
    watch.lap(Phase::Connect);
    if (!is_tls(method.exchange)) {
        net::TcpChannel channel(std::move(socket));
        return over(channel, method, local, watch);
    }

    auto channel =
        std::make_unique<net::TlsChannel>(context_of(method), std::move(socket), limit());
    watch.lap(Phase::Handshake);
    watch.sample.was_resumed = channel->was_resumed();
    const Sample sample = over(*channel, method, local, watch);
    if (is_kept)
        kept_ = std::move(channel);
    return sample;
}

net::TlsContext& Client::context_of(const Method& method) {
    return method.exchange == Exchange::TlsResumed ? *resuming_ : *full_;
}

Sample Client::over(net::Channel& channel, const Method& method, const util::Address& local,
                    Stopwatch watch) {
    const net::TimeLimit limit = this->limit();
    rdma::DevicePort opened;
    if (method.device == Device::OfTheConnection) {
        opened = rdma::open_device_of(local);
        watch.lap(Phase::DeviceOpen);
    }
    const rdma::DevicePort& device = opened.context ? opened : device_;

    Resources resources(device.context.get(), 0);
    const rdma::Qp qp = make_qp(resources);
    const net::Endpoint mine = endpoint_of(
        resources, *qp, device.gid, is_tls(method.exchange) ? lesson07::random_psn() : chosen_psn);
    watch.lap(Phase::Resources);

    net::send_endpoint(channel, mine, limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    watch.lap(Phase::Exchange);

    to_rts(qp.get(), device.gid, mine, theirs, 0);
    net::barrier(channel, limit);
    watch.lap(Phase::States);

    write_one_byte(qp.get(), resources, theirs.va, theirs.rkey, limit);
    watch.lap(Phase::FirstByte);
    net::barrier(channel, limit);
    return watch.sample;
}

}  // namespace bench
