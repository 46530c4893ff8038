// Step 16, the passive side: a parameter server. Workers write their gradients into its memory and
// read the weights out of it; its processor is told of the gradients, and adds them up.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <poll.h>

#include "cm/events.hpp"
#include "examples/common/program.hpp"
#include "training.hpp"
#include "util/check.hpp"
#include "verbs/device.hpp"

namespace {

using step16::Job;
using step16::Training;

struct Session {
    cm::Id id;
    cm::Qp qp{};
    std::uint16_t rank = 0;
    bool is_established = false;
};

class Server {
  public:
    Server(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          channel_(cm::make_channel()),
          listener_(cm::make_id(channel_.get())) {
        util::Address address = options.address();
        util::check_errno(rdma_bind_addr(listener_.get(), address.get()),
                          "rdma_bind_addr(" + address.text() + ")");
        util::check_errno(rdma_listen(listener_.get(), 64), "rdma_listen");
        log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    }

    // 1. Two things happen: connections come and go, and gradients arrive.
    void serve() {
        while (!stop_.requested()) {
            std::array<pollfd, 3> fds{
                {{stop_.fd(), POLLIN, 0},
                 {channel_->fd, POLLIN, 0},
                 {training_ ? training_->completions().channel->fd : -1, POLLIN, 0}}};
            if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
                util::check_errno(-1, "poll");
            try {
                take_completions();
                if (fds[1].revents != 0)
                    if (cm::Event event = cm::next_event(channel_.get(), stop_, util::Clock::now()))
                        take(std::move(event));
            } catch (const std::exception& error) {
                log_.error(error.what());
                if (training_)
                    training_->give_up();
            }
        }
        log_.note("stopped by a signal");
    }

  private:
    void take(cm::Event event) {
        log_.event("cm_event", cm::describe(*event));
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST: {
                cm::Id taken(id);  // refused where what follows fails
                const auto& request = event->param.conn;
                const Job job = Job::parse(std::as_bytes(std::span(
                    static_cast<const char*>(request.private_data), request.private_data_len)));
                accept(std::move(taken), job);
                break;
            }
            case RDMA_CM_EVENT_ESTABLISHED:
                log_.event("device", verbs::describe_device(id->qp));
                log_.event("qp_state", verbs::query_state(id->qp));
                sessions_[id].is_established = true;
                if (established() == training_->job().workers)
                    training_->begin();
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id can go only when its events are acknowledged
                leave(id);
                break;
            default:
                break;
        }
    }

    // 2. A worker: its own slot and the weights are lent to it, and receives are there before it
    // can push.
    void accept(cm::Id id, const Job& job) {
        if (job.workers == 0 || job.workers > most_workers || job.steps == 0)
            throw util::Error(
                "a worker asks for a job of no workers, of too many, or of no steps.");
        if (training_ && (training_->job() != job || next_rank_ == job.workers))
            throw util::Error(
                fmt::format("one more worker, for a job of {} workers and {} steps: this server is "
                            "at one of {} "
                            "and {}, and {} have come.",
                            job.workers, job.steps, training_->job().workers,
                            training_->job().steps, next_rank_));
        if (!training_)
            training_.emplace(id->verbs, job, log_);
        rdma_cm_id* key = id.get();
        try {
            Session& session = sessions_[key];
            session.id = std::move(id);
            session.rank = next_rank_;
            ibv_qp_init_attr attributes{};
            attributes.qp_type = IBV_QPT_RC;
            attributes.send_cq = training_->completions().cq.get();
            attributes.recv_cq = training_->completions().cq.get();
            attributes.cap = {.max_send_wr = 1,
                              .max_recv_wr = 2,
                              .max_send_sge = 1,
                              .max_recv_sge = 1,
                              .max_inline_data = 0};
            session.qp = cm::make_qp(key, training_->pd(), attributes);
            log_.event("qp", verbs::describe(*key->qp, attributes.cap));
            for (std::uint64_t receive = 0; receive < attributes.cap.max_recv_wr; ++receive)
                post_receive(session);

            const step16::Place place = training_->place_of(session.rank);
            const auto bytes = place.serialize();
            rdma_conn_param parameters{};
            parameters.private_data = bytes.data();
            parameters.private_data_len = bytes.size();
            parameters.responder_resources = 1;
            parameters.rnr_retry_count = 7;
            util::check_errno(rdma_accept(key, &parameters), "rdma_accept");
            log_.event("exchange", cm::describe(place.slot, "sent"));
            log_.event("exchange", cm::describe(place.weights, "sent"));
            ++next_rank_;
        } catch (...) {
            leave(key);
            throw;
        }
    }

    void post_receive(const Session& session) {
        ibv_recv_wr wr{};
        wr.wr_id = session.rank;  // a flushed one has no other mark of its worker
        log_.event("post_recv", verbs::describe(*session.id->qp, wr));
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(session.id->qp, &wr, &refused), "ibv_post_recv");
    }

    // 3. A completion says that the whole of a gradient is in its slot; the queue pair, whose.
    void take_completions() {
        while (training_) {
            const auto wc = training_->completions().next(stop_, util::Clock::now());
            if (!wc)
                return;
            log_.event("wc", verbs::describe(*wc));
            if (wc->status != IBV_WC_SUCCESS)
                continue;
            const auto session = std::ranges::find_if(sessions_, [&](const auto& entry) {
                return entry.second.id->qp->qp_num == wc->qp_num;
            });
            if (session == sessions_.end())
                continue;
            post_receive(session->second);
            training_->take(session->second.rank, ntohl(wc->imm_data), wc->byte_len);
        }
    }

    // 4. One that goes before the end takes the others with it: their sums would lack its part.
    void leave(const rdma_cm_id* id) {
        const auto session = sessions_.find(const_cast<rdma_cm_id*>(id));
        if (session == sessions_.end())
            return;
        if (training_ && !training_->is_over()) {
            log_.error(fmt::format("rank {} has gone before the last step: the others are told.",
                                   session->second.rank));
            training_->give_up();
        }
        sessions_.erase(session);
        if (sessions_.empty()) {
            training_.reset();
            next_rank_ = 0;
        }
    }

    std::size_t established() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            sessions_, [](const auto& entry) { return entry.second.is_established; }));
    }

    static constexpr std::uint16_t most_workers = 1000;

    runlog::Log& log_;
    util::StopSignal& stop_;
    cm::EventChannel channel_;
    cm::Id listener_;
    std::optional<Training> training_;
    std::map<rdma_cm_id*, Session> sessions_;
    std::uint16_t next_rank_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 16, server: the weights of a model that many workers train.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Server(options, log, stop).serve();
        return 0;
    });
}
