// Step 18, the passive side: an inference server. Clients write batches into its memory and tell it
// of them; it answers them in the order in which their notices came, whoever sent them.
#include <array>

#include "cm/events.hpp"
#include "examples/common/program.hpp"
#include "service.hpp"
#include "util/check.hpp"

namespace {

class Server {
  public:
    Server(const common::ServerOptions& options, std::chrono::microseconds launch, runlog::Log& log,
           util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          channel_(cm::make_channel()),
          listener_(cm::make_id(channel_.get())),
          service_(launch, log, stop) {
        util::Address address =
            options.local.resolve(options.port, false).value_or(util::Address::any(options.port));
        util::check_errno(rdma_bind_addr(listener_.get(), address.get()),
                          "rdma_bind_addr(" + address.text() + ")");
        util::check_errno(rdma_listen(listener_.get(), 64), "rdma_listen");
        log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    }

    // 1. All notices that have come are put into the queue, and then one batch is answered: what
    // comes in the meantime stands behind what was there.
    void serve() {
        while (!stop_.requested()) {
            const bool has_taken = service_.take_completions();
            const bool has_answered = service_.answer_one(model_);
            service_.end_silent();
            service_.recorder().write_old();
            wait(has_taken || has_answered);
        }
        service_.recorder().write();
        log_.note("stopped by a signal");
    }

  private:
    // Where there was work, only looks: one who has gone is not to be answered.
    void wait(bool is_busy) {
        std::array<pollfd, 3> fds{{{stop_.fd(), POLLIN, 0},
                                   {channel_->fd, POLLIN, 0},
                                   {service_.completions_fd(), POLLIN, 0}}};
        constexpr std::chrono::milliseconds quiet{50};  // then what is kept goes to the log
        util::Deadline until = service_.due();
        if (is_busy)
            until = util::Clock::now();
        else if (!service_.recorder().is_empty())
            until = step18::earlier(until, util::deadline_in(quiet));
        step18::wait_for_any(fds, until);
        const bool is_quiet =
            !is_busy && std::ranges::all_of(fds, [](const pollfd& fd) { return fd.revents == 0; });
        if (is_quiet || fds[1].revents != 0)
            service_.recorder().write();
        if (fds[1].revents == 0)
            return;
        try {
            if (cm::Event event = cm::next_event(channel_.get(), stop_, util::Clock::now()))
                take(std::move(event));
        } catch (const std::exception& error) {
            log_.error(error.what());
        }
    }

    // 2. Clients come and go.
    void take(cm::Event event) {
        log_.event("cm_event", cm::describe(*event));
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST: {
                cm::Id taken(id);  // refused where what follows fails
                const auto& request = event->param.conn;
                service_.accept(std::move(taken),
                                step18::Greeting::parse(std::as_bytes(
                                    std::span(static_cast<const char*>(request.private_data),
                                              request.private_data_len))));
                break;
            }
            case RDMA_CM_EVENT_ESTABLISHED:
                service_.established(id);
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id can go only when its events are acknowledged
                service_.leave(id);
                break;
            default:
                break;
        }
    }

    runlog::Log& log_;
    util::StopSignal& stop_;
    step18::Model model_;
    cm::EventChannel channel_;
    cm::Id listener_;
    step18::Service service_;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 18, server: a model that answers batches in the order of their notices.");
    common::ServerOptions options;
    command_line.add(options);
    std::uint64_t launch_us = 0;
    command_line.number("--launch-us", launch_us, 0, 60'000'000,
                        "Microseconds that each batch costs besides, as an accelerator's start");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Server(options, std::chrono::microseconds(launch_us), log, stop).serve();
        return 0;
    });
}
