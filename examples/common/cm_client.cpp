#include "examples/common/cm_client.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <string>

#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace common {

CmClient::CmClient(const ClientOptions& options, int completions, runlog::Log& log,
                   util::StopSignal& stop)
    : options_(options),
      log_(log),
      stop_(stop),
      server_(options.resolve_server()),
      channel_(rdma::make_channel()),
      id_(rdma::make_id(channel_.get())) {
    auto source = options.local.resolve(0, server_.is_ipv6());
    rdma::CmEvent resolved = rdma::resolve_address(id_.get(), source ? &*source : nullptr, server_,
                                                   stop, options.timeout);
    resolved.reset();
    CHECK_ERRNO(rdma_resolve_route(id_.get(), static_cast<int>(options.timeout.count())));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    pd_ = rdma::Pd{CHECK_PTR(ibv_alloc_pd(id_->verbs))};
    completions_.emplace(id_->verbs, completions);
}

rdma::CmEvent CmClient::expect(rdma_cm_event_type wanted) {
    rdma::CmEvent event = rdma::expect_event(channel_.get(), wanted, server_, stop_,
                                             util::deadline_in(options_.timeout));
    return event;
}

void CmClient::make_qp(const ibv_qp_cap& cap) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions_->cq.get();
    attributes.recv_cq = completions_->cq.get();
    attributes.cap = cap;
    qp_ = rdma::make_qp(id_.get(), pd_.get(), attributes);
}

rdma::Capability CmClient::connect(std::span<const std::byte> private_data) {
    rdma_conn_param parameters{};
    parameters.private_data = private_data.data();
    parameters.private_data_len = static_cast<std::uint8_t>(private_data.size());
    parameters.initiator_depth = 1;  // one READ or atomic in flight
    parameters.retry_count = 7;
    parameters.rnr_retry_count = 7;  // 7: without limit
    CHECK_ERRNO(rdma_connect(id_.get(), &parameters));
    return await_established();
}

rdma::Capability CmClient::await_established() {
    const rdma::CmEvent established = expect(RDMA_CM_EVENT_ESTABLISHED);
    const auto& answer = established->param.conn;
    const auto data = std::as_bytes(
        std::span(static_cast<const char*>(answer.private_data), answer.private_data_len));
    answer_.assign(data.begin(), data.end());
    const auto remote = rdma::Capability::parse(answer_);
    log_.event("exchange", rdma::describe(remote, "received"));
    return remote;
}

std::optional<ibv_wc> CmClient::completion() {
    const auto wc = completions_->next(stop_, util::deadline_in(options_.timeout));
    return wc;
}

std::optional<ibv_wc> CmClient::completion_while_connected(util::Deadline deadline) {
    while (true) {
        const auto wc = completions_->next(stop_, util::Clock::now());
        if (wc || has_ended_ || stop_.requested() || util::is_past(deadline))
            return wc;
        std::array<pollfd, 3> fds{{{stop_.fd(), POLLIN, 0},
                                   {completions_->channel->fd, POLLIN, 0},
                                   {channel_->fd, POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), util::poll_timeout(deadline)) < 0 && errno != EINTR)
            util::check_errno(-1, "poll");
        if (fds[2].revents != 0)
            has_ended();
    }
}

void CmClient::expect_success(std::string_view what) {
    const auto wc = completion();
    if (!wc && stop_.requested())
        throw util::Error("stopped by a signal.");
    rdma::expect_success(wc, what);
}

void CmClient::expect_status(ibv_wc_status wanted) {
    const auto wc = completion();
    if (!wc)
        throw util::Error(stop_.requested()
                              ? "stopped by a signal."
                              : "no completion arrived in time: the peer does not respond.");
    if (wc->status != wanted)
        throw util::Error("the completion has status " + std::string(rdma::name_of(wc->status)) +
                          ", but " + std::string(rdma::name_of(wanted)) + " was expected.");
}

bool CmClient::has_ended() {
    while (const rdma::CmEvent event =
               rdma::next_event(channel_.get(), stop_, util::Clock::now())) {
        has_ended_ |= event->event == RDMA_CM_EVENT_DISCONNECTED ||
                      event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
    }
    return has_ended_;
}

void CmClient::disconnect() {
    CHECK_ERRNO(rdma_disconnect(id_.get()));
    if (has_ended_)
        return;
    expect(RDMA_CM_EVENT_DISCONNECTED);
}

}  // namespace common
