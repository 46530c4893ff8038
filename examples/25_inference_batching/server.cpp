// Lesson 25, the server: it holds a model. Clients WRITE batches of inputs into its memory and send
// notices; it answers the batches in the order of their notices.
#include "examples/common/cm_server.hpp"
#include "examples/common/tracer.hpp"
#include "service.hpp"

namespace {

using lesson25::Service;
using lesson25::Session;

constexpr std::size_t most_clients = 64;
constexpr std::size_t entries =
    most_clients * (lesson25::max_sends({1, lesson25::most_depth}) + lesson25::most_depth);

// 1. A client requests a number of slots and their size.
void admit(Service& service, rdma::CmId id, const rdma_conn_param& request) {
    const auto greeting = lesson25::Greeting::parse(std::as_bytes(
        std::span(static_cast<const char*>(request.private_data), request.private_data_len)));
    if (service.sessions.size() == most_clients)
        throw util::Error("the server already serves its largest number of clients.");
    if (!service.completions)
        service.completions.emplace(id->verbs, static_cast<int>(entries));
    if (service.completions->cq->context != id->verbs)
        throw util::Error("the client connects over another device than the current clients.");
    rdma_cm_id* key = id.get();
    Session& session =
        service.sessions.try_emplace(key, std::move(id), greeting, ++service.clients).first->second;
    lesson25::accept(session, service.completions->cq.get(), service.log);
}

// 2. When all clients of a run have connected, tells them to begin.
void begin_if_all_are_there(Service& service, std::uint16_t clients) {
    std::vector<Session*> there;
    for (auto& [key, session] : service.sessions)
        if (session.is_waiting() && session.greeting.clients == clients)
            there.push_back(&session);
    if (there.size() < clients)
        return;
    for (Session* session : there) {
        session->has_begun = true;
        ibv_send_wr wr = lesson25::notice_of(*session, lesson25::begin);
        lesson25::post_send(*session, wr);
    }
}

// 3. Processes what the client sent before it disconnected.
void leave(Service& service, rdma_cm_id* id) {
    lesson25::take_completions(service);
    const auto session = service.sessions.find(id);
    if (session == service.sessions.end())
        return;
    if (const auto left = session->second.in_use.unanswered(); left > 0)
        service.log.error(fmt::format("client {} disconnected with {} batch{} outstanding.",
                                      session->second.number, left, left == 1 ? "" : "es"));
    lesson25::end(service, session);
}

void take(rdma::CmEvent event, Service& service) {
    rdma_cm_id* id = event->id;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        try {
            admit(service, rdma::CmId{id}, event->param.conn);
        } catch (const std::exception& error) {  // destroying the id rejects only this client
            service.log.error(error.what());
            if (const auto session = service.sessions.find(id); session != service.sessions.end())
                lesson25::end(service, session);
        }
        return;
    }
    const auto session = service.sessions.find(id);
    if (event->event == RDMA_CM_EVENT_ESTABLISHED && session != service.sessions.end()) {
        session->second.is_established = true;
        begin_if_all_are_there(service, session->second.greeting.clients);
    }
    const bool is_end = common::is_end(event->event);
    event.reset();  // an id cannot be destroyed before its events are acknowledged
    if (is_end)
        leave(service, id);
}

int run(const common::ServerOptions& options, Service service) {
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId listener = common::make_listener(channel.get(), options, service.log);
    while (!service.stop.requested()) {
        // 4. Queue all notices that have arrived, and then answer one batch. Later notices go
        // behind them in the queue.
        const bool has_taken = lesson25::take_completions(service);
        const bool has_answered = lesson25::answer_one(service);
        const util::Deadline due = lesson25::end_silent(service);
        std::array<pollfd, 3> fds{
            {{service.stop.fd(), POLLIN, 0},
             {channel->fd, POLLIN, 0},
             {service.completions ? service.completions->channel->fd : -1, POLLIN, 0}}};
        lesson25::wait_for_any(fds, has_taken || has_answered ? util::Clock::now() : due);
        try {
            if (fds[1].revents != 0)
                if (rdma::CmEvent event =
                        rdma::next_event(channel.get(), service.stop, util::Clock::now()))
                    take(std::move(event), service);
        } catch (const std::exception& error) {
            service.log.error(error.what());
        }
    }
    service.log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 25, server: runs a model on batches, in the order of their notifications.");
    common::ServerOptions options;
    command_line.add(options);
    std::uint64_t launch_us = 0;
    bool is_quiet = false;
    command_line.number("--launch-us", launch_us, 0, 60'000'000,
                        "Extra microseconds per batch, like the start of an accelerator");
    command_line.flag("--quiet", is_quiet, "Do not log requests and batches, for measurements");
    return command_line.main(argc, argv, common::traced([&](auto& log, auto& stop) {
                                 if (is_quiet)
                                     common::trace_no_requests();
                                 return run(options,
                                            Service{.launch = std::chrono::microseconds(launch_us),
                                                    .is_quiet = is_quiet,
                                                    .log = log,
                                                    .stop = stop});
                             }));
}
