// Lesson 23, the server: workers READ the weights from its memory and WRITE their gradients into it.
// Completions notify its program of the gradients, which it adds up.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <poll.h>

#include "examples/common/cm_server.hpp"
#include "examples/common/tracer.hpp"
#include "session.hpp"
#include "training.hpp"

namespace {

using lesson23::Session;

constexpr std::uint16_t most_workers = 1000;

// The state of a job: created for its first worker, destroyed with the last.
struct Running {
    lesson23::Memory memory;
    lesson23::Training training;
    std::map<rdma_cm_id*, Session> sessions{};
    std::uint16_t next_rank = 0, established = 0;

    Running(ibv_context* context, const lesson23::Job& job, runlog::Log& log)
        : memory(context, job.workers), training(job, memory, log) {}
};

// 1. A worker requests to join a job.
void admit(std::optional<Running>& running, rdma::CmId id, const rdma_conn_param& request,
           runlog::Log& log) {
    const auto job = lesson23::Job::parse(std::as_bytes(
        std::span(static_cast<const char*>(request.private_data), request.private_data_len)));
    if (job.workers == 0 || job.workers > most_workers || job.steps == 0)
        throw util::Error(
            "a worker requests a job with no workers, too many workers, or no steps.");
    if (running && (running->training.job() != job || running->next_rank == job.workers))
        throw util::Error(
            fmt::format("a worker for a job of {} workers and {} steps: the current job has {} "
                        "workers and {} steps, and {} workers have joined.",
                        job.workers, job.steps, running->training.job().workers,
                        running->training.job().steps, running->next_rank));
    if (!running)
        running.emplace(id->verbs, job, log);
    rdma_cm_id* key = id.get();
    Session& session = running->sessions[key];
    session.id = std::move(id);
    session.rank = running->next_rank;
    lesson23::accept(session, running->memory, log);
    ++running->next_rank;
}

// 2. A completion means that a complete gradient is in a slot; its queue pair identifies the
// worker.
void take_completions(Running& running, util::StopSignal& stop) {
    while (const auto wc = running.memory.completions.next(stop, util::Clock::now())) {
        const auto session = std::ranges::find_if(running.sessions, [&](const auto& entry) {
            return entry.second.id->qp->qp_num == wc->qp_num;
        });
        if (wc->status != IBV_WC_SUCCESS || session == running.sessions.end())
            continue;
        lesson23::post_receive(session->second);
        running.training.take(session->second.rank, ntohl(wc->imm_data), wc->byte_len);
    }
}

void remove(std::optional<Running>& running, rdma_cm_id* id) {
    running->sessions.erase(id);
    if (running->sessions.empty())
        running.reset();
}

// 3. A worker that disconnects early ends the job: the sums would lack its gradient.
void leave(std::optional<Running>& running, rdma_cm_id* id, runlog::Log& log) {
    if (!running->training.is_over()) {
        log.error(fmt::format("rank {} disconnected before the last step: the others are informed.",
                              running->sessions.at(id).rank));
        running->training.give_up();
    }
    remove(running, id);
}

void take(rdma::CmEvent event, std::optional<Running>& running, runlog::Log& log) {
    rdma_cm_id* id = event->id;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        try {
            admit(running, rdma::CmId{id}, event->param.conn, log);
        } catch (const std::exception& error) {  // destroying the id rejects only this worker
            log.error(error.what());
            if (running)
                remove(running, id);
        }
    } else if (running && running->sessions.contains(id)) {
        const std::uint16_t workers = running->training.job().workers;
        if (event->event == RDMA_CM_EVENT_ESTABLISHED && ++running->established == workers &&
            running->sessions.size() == workers)
            running->training.begin();
        const bool is_end = common::is_end(event->event);
        event.reset();  // an id cannot be destroyed before its events are acknowledged
        if (is_end)
            leave(running, id, log);
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId listener = common::make_listener(channel.get(), options, log);
    std::optional<Running> running;
    while (!stop.requested()) {
        std::array<pollfd, 3> fds{
            {{stop.fd(), POLLIN, 0},
             {channel->fd, POLLIN, 0},
             {running ? running->memory.completions.channel->fd : -1, POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
            util::check_errno(-1, "poll");
        try {
            if (running)
                take_completions(*running, stop);
            if (fds[1].revents != 0)
                if (rdma::CmEvent event = rdma::next_event(channel.get(), stop, util::Clock::now()))
                    take(std::move(event), running, log);
        } catch (const std::exception& error) {
            log.error(error.what());
            if (running)
                running->training.give_up();
        }
    }
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 23, server: holds the weights of a model that many workers train.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
