// Lesson 24, the server: rank 0, to which all other ranks connect.
#include <array>
#include <cerrno>
#include <memory>
#include <poll.h>

#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "rank_zero.hpp"
#include "rdma/cm_events.hpp"

namespace {

using lesson24::RankZero;
using lesson24::Request;

class Server {
  public:
    Server(const common::ServerOptions& options, std::chrono::seconds time_limit, runlog::Log& log,
           util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          time_limit_(time_limit),
          channel_(rdma::make_channel()),
          listener_(rdma::make_id(channel_.get())) {
        util::Address address = options.address();
        util::check_errno(rdma_bind_addr(listener_.get(), address.get()),
                          "rdma_bind_addr(" + address.text() + ")");
        CHECK_ERRNO(rdma_listen(listener_.get(), 64));
        log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    }

    // 1. The first rank starts a rendezvous. If it fails, all of its ranks are notified.
    void serve() {
        while (!stop_.requested()) {
            if (util::wait_readable(channel_->fd, stop_, std::nullopt) == util::Ready::input)
                take_event();
            if (!rendezvous_)
                continue;
            try {
                rendezvous_->run();
                const util::Deadline deadline = util::deadline_in(time_limit_);
                while (!rendezvous_->sessions().empty() && next(deadline)) {
                }
            } catch (const std::exception& error) {
                if (!stop_.requested())
                    rendezvous_->give_up(error.what());
            }
            rendezvous_.reset();
        }
        log_.note("stopped by a signal");
    }

  private:
    // 2. Handles flags and connection events. Flags come first: a rank that has disconnected may
    // have raised all of its flags.
    std::optional<ibv_wc> next(util::Deadline deadline) {
        while (true) {
            const auto wc = rendezvous_->completions().next(stop_, util::Clock::now());
            if (wc || util::is_past(deadline))
                return wc;
            if (stop_.requested())
                throw util::Error("stopped by a signal.");
            if (rendezvous_->sessions().empty() && rendezvous_->is_over())
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
        rdma::CmEvent event = rdma::next_event(channel_.get(), stop_, util::Clock::now());
        if (!event)
            return;
        const rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST:
                take_request(std::move(event));
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id cannot be destroyed before its events are acknowledged
                if (rendezvous_)
                    rendezvous_->leave(id);
                break;
            default:
                break;
        }
    }

    // 3. A rank that is not admitted gets the reason. The others are not affected.
    void take_request(rdma::CmEvent event) {
        rdma::CmId id(event->id);
        rdma_cm_id* asking = id.get();
        const auto& asked = event->param.conn;
        const bool is_first = !rendezvous_;
        try {
            const auto request = Request::parse(std::as_bytes(
                std::span(static_cast<const char*>(asked.private_data), asked.private_data_len)));
            event.reset();
            if (is_first)
                rendezvous_ = std::make_unique<RankZero>(
                    asking, request.job, time_limit_,
                    [this](util::Deadline deadline) { return next(deadline); }, log_);
            if (rendezvous_->is_over())
                throw util::Error("a rendezvous is ending. Try again.");
            const std::uint16_t rank = rendezvous_->sessions().rank_for(request);
            rendezvous_->sessions().admit(std::move(id), rank);
        } catch (const std::exception& error) {
            log_.error(std::string("refused: ") + error.what());
            event.reset();
            if (id)
                rdma::refuse(id.get(), error.what());
            if (is_first)
                rendezvous_.reset();
        }
    }

    runlog::Log& log_;
    util::StopSignal& stop_;
    std::chrono::seconds time_limit_;
    rdma::EventChannel channel_;
    rdma::CmId listener_;
    std::unique_ptr<RankZero> rendezvous_;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Lesson 24, server: runs rank 0, which all ranks join.");
    common::ServerOptions options;
    std::uint64_t limit = 10;
    command_line.add(options);
    command_line.number("--time-limit", limit, 1, 600, "Seconds to wait for missing ranks");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 Server(options, std::chrono::seconds(limit), log, stop).serve();
                                 return 0;
                             }));
}
