// Step 17, the passive side: rank 0, at which all the others meet.
#include <array>
#include <cerrno>
#include <memory>
#include <poll.h>

#include "examples/common/program.hpp"
#include "rank_zero.hpp"

namespace {

using step17::RankZero;
using step17::Request;

struct Options {
    common::ServerOptions server;
    std::uint64_t patience = 10;
};

class Server {
  public:
    Server(const Options& options, runlog::Log& log, util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          patience_(options.patience),
          channel_(cm::make_channel()),
          listener_(cm::make_id(channel_.get())) {
        util::Address address = options.server.address();
        util::check_errno(rdma_bind_addr(listener_.get(), address.get()),
                          "rdma_bind_addr(" + address.text() + ")");
        util::check_errno(rdma_listen(listener_.get(), 64), "rdma_listen");
        log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    }

    // 1. The first rank to come begins a rendezvous; what becomes of it, all of its ranks hear.
    void serve() {
        while (!stop_.requested()) {
            if (util::wait_readable(channel_->fd, stop_, std::nullopt) == util::Ready::input)
                take_event();
            if (rendezvous_)
                hold();
        }
        log_.note("stopped by a signal");
    }

  private:
    void hold() {
        try {
            rendezvous_->run();
            const util::Deadline deadline = util::deadline_in(patience_);
            while (!rendezvous_->is_empty() && next(deadline)) {
            }
        } catch (const std::exception& error) {
            if (!stop_.requested())
                give_up(error.what());
        }
        rendezvous_.reset();
    }

    void give_up(const std::string& why) {
        log_.error(why);
        try {
            rendezvous_->give_up(why);
        } catch (const std::exception& error) {
            log_.note(error.what());
        }
    }

    // 2. Two things happen: flags are raised, and connections come and go. A flag that is there
    // comes first: a rank that has gone may have said all that it had to say.
    std::optional<ibv_wc> next(util::Deadline deadline) {
        while (true) {
            const auto wc = rendezvous_->completions().next(stop_, util::Clock::now());
            if (wc)
                log_.event("wc", verbs::describe(*wc));
            if (wc || util::is_past(deadline))
                return wc;
            if (stop_.requested())
                throw util::Error("stopped by a signal.");
            if (rendezvous_->is_empty() && rendezvous_->is_over())
                return std::nullopt;
            std::array<pollfd, 3> fds{{{stop_.fd(), POLLIN, 0},
                                       {rendezvous_->completions().channel->fd, POLLIN, 0},
                                       {channel_->fd, POLLIN, 0}}};
            if (poll(fds.data(), fds.size(), util::poll_timeout(deadline)) < 0 && errno != EINTR)
                util::check_errno(-1, "poll");
            if (fds[2].revents != 0)
                take_event();
        }
    }

    void take_event() {
        cm::Event event = cm::next_event(channel_.get(), stop_, util::Clock::now());
        if (!event)
            return;
        log_.event("cm_event", cm::describe(*event));
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST:
                take_request(std::move(event));
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id can go only when its events are acknowledged
                if (rendezvous_)
                    rendezvous_->leave(id);
                break;
            default:
                break;
        }
    }

    // 3. Who cannot be let in hears why. The others are not troubled with it.
    void take_request(cm::Event event) {
        cm::Id id(event->id);
        rdma_cm_id* asking = id.get();
        const auto& asked = event->param.conn;
        const bool is_first = !rendezvous_;
        try {
            const auto request = Request::parse(std::as_bytes(
                std::span(static_cast<const char*>(asked.private_data), asked.private_data_len)));
            if (request.job.ranks < step17::least_ranks || request.job.ranks > step17::most_ranks)
                throw util::Error(fmt::format("a rendezvous is of {} to {} ranks, not {}.",
                                              step17::least_ranks, step17::most_ranks,
                                              request.job.ranks));
            event.reset();
            if (is_first)
                begin(asking, request.job);
            const std::uint16_t rank = rendezvous_->rank_for(request);
            rendezvous_->admit(std::move(id), rank);
        } catch (const std::exception& error) {
            log_.error(std::string("refused: ") + error.what());
            event.reset();
            if (id)
                cm::refuse(id.get(), error.what());
            if (is_first)
                rendezvous_.reset();
        }
    }

    void begin(rdma_cm_id* id, const step17::Job& job) {
        const util::Address address(rdma_get_local_addr(id));
        rendezvous_ = std::make_unique<RankZero>(
            id->verbs, verbs::choose_gid(id->verbs, address), job, patience_,
            [this](util::Deadline deadline) { return next(deadline); }, log_);
    }

    runlog::Log& log_;
    util::StopSignal& stop_;
    std::chrono::seconds patience_;
    cm::EventChannel channel_;
    cm::Id listener_;
    std::unique_ptr<RankZero> rendezvous_;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server", "Step 17, server: rank 0, at which all ranks meet.");
    Options options;
    command_line.add(options.server);
    command_line.number("--patience", options.patience, 1, 600,
                        "Seconds to wait for ranks that do not come");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Server(options, log, stop).serve();
        return 0;
    });
}
