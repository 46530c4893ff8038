#include "examples/common/cm_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace common {
namespace {

constexpr int backlog = 64;
constexpr std::chrono::milliseconds establish_limit{5000};

}  // namespace

rdma::CmId make_listener(rdma_event_channel* channel, const ServerOptions& options,
                         runlog::Log& log) {
    rdma::CmId listener = rdma::make_id(channel);
    util::Address address = options.address();
    util::check_errno(rdma_bind_addr(listener.get(), address.get()),
                      "rdma_bind_addr(" + address.text() + ")");
    CHECK_ERRNO(rdma_listen(listener.get(), backlog));
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    return listener;
}

bool is_end(rdma_cm_event_type type) {
    return type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_CONNECT_ERROR ||
           type == RDMA_CM_EVENT_UNREACHABLE || type == RDMA_CM_EVENT_REJECTED ||
           type == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

CmServer::CmServer(const ServerOptions& options, runlog::Log& log, util::StopSignal& stop)
    : log_(log),
      stop_(stop),
      channel_(rdma::make_channel()),
      listener_(make_listener(channel_.get(), options, log)) {}

void CmServer::serve_each(const std::function<void(CmSession&)>& serve) {
    while (const auto session = next_client())
        try {
            serve(*session);
        } catch (const std::exception& error) {
            log_.error(error.what());
        }
    log_.note("stopped by a signal");
}

std::unique_ptr<CmSession> CmServer::next_client() {
    while (waiting_.empty() && !stop_.requested())
        take_event(nullptr, std::nullopt);
    if (stop_.requested())
        return nullptr;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    return std::unique_ptr<CmSession>(
        new CmSession(*this, std::move(request.id), std::move(request.private_data)));
}

std::optional<rdma_cm_event_type> CmServer::take_event(const rdma_cm_id* id,
                                                       util::Deadline deadline) {
    rdma::CmEvent event = rdma::next_event(channel_.get(), stop_, deadline);
    if (!event)
        return std::nullopt;
    const rdma_cm_event_type type = event->event;
    rdma_cm_id* about = event->id;
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        const auto& conn = event->param.conn;
        const auto data = std::as_bytes(
            std::span(static_cast<const char*>(conn.private_data), conn.private_data_len));
        waiting_.push_back({rdma::CmId{about}, {data.begin(), data.end()}});
        return std::nullopt;
    }
    event.reset();  // an id cannot be destroyed before its events are acknowledged
    if (is_end(type))
        std::erase_if(waiting_, [&](const Request& request) { return request.id.get() == about; });
    return about == id ? std::optional(type) : std::nullopt;
}

CmSession::CmSession(CmServer& server, rdma::CmId id, std::vector<std::byte> request)
    : server_(server),
      id_(std::move(id)),
      request_(std::move(request)),
      pd_(CHECK_PTR(ibv_alloc_pd(id_->verbs))) {}

void CmSession::make_qp(const ibv_qp_cap& cap) {
    completions_.emplace(id_->verbs, static_cast<int>(cap.max_send_wr + cap.max_recv_wr));
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions_->cq.get();
    attributes.recv_cq = completions_->cq.get();
    attributes.cap = cap;
    qp_ = rdma::make_qp(id_.get(), pd_.get(), attributes);
}

void CmSession::accept(const rdma::Capability& capability, std::uint8_t rnr_retries) {
    const auto bytes = capability.serialize();
    rdma_conn_param parameters{};
    parameters.private_data = bytes.data();
    parameters.private_data_len = bytes.size();
    parameters.responder_resources = 1;
    parameters.rnr_retry_count = rnr_retries;
    CHECK_ERRNO(rdma_accept(id_.get(), &parameters));
    server_.log_.event("exchange", rdma::describe(capability, "sent"));
}

void CmSession::await_established() {
    const util::Deadline deadline = util::deadline_in(establish_limit);
    while (!is_gone_ && !util::is_past(deadline) && !server_.stop_.requested()) {
        const auto type = server_.take_event(id_.get(), deadline);
        is_gone_ = type && is_end(*type);
        if (type != RDMA_CM_EVENT_ESTABLISHED)
            continue;
        return;
    }
    if (!server_.stop_.requested())
        throw util::Error("the client did not complete the connection.");
}

bool CmSession::stays_connected() {
    if (!is_gone_) {
        const auto type =
            server_.take_event(id_.get(), util::deadline_in(std::chrono::milliseconds(1)));
        is_gone_ = type && is_end(*type);
    }
    return !is_gone_ && !server_.stop_.requested();
}

}  // namespace common
