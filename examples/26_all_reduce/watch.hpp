// Lesson 26: what Gloo does not do. It waits for the others without end, and so does the queue pair, because
// Soft-RoCE takes retry_cnt 7 for "for ever". A thread watches the ranks' lines to rank 0 instead.
#pragma once

#include <cstdlib>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <utility>
#include <vector>

#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"
#include "util/stop_signal.hpp"

namespace lesson26 {

/// While it exists, the program ends with status 1 if a stop is requested or one of the lines is closed.
class Watch {
  public:
    Watch(std::vector<int> lines, util::StopSignal& stop, runlog::Log& log)
        : over_(CHECK_ERRNO(eventfd(0, EFD_CLOEXEC))),
          thread_([this, lines = std::move(lines), &stop, &log] { run(lines, stop, log); }) {}
    ~Watch() {
        eventfd_write(over_.get(), 1);
        thread_.join();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    Watch(Watch&&) = delete;
    Watch& operator=(Watch&&) = delete;

  private:
    void run(const std::vector<int>& lines, util::StopSignal& stop, runlog::Log& log) const {
        std::vector<pollfd> fds{{over_.get(), POLLIN, 0}, {stop.fd(), POLLIN, 0}};
        for (const int line : lines)
            fds.push_back({line, POLLRDHUP, 0});
        while (poll(fds.data(), fds.size(), -1) < 0) {
        }
        if (fds[0].revents != 0)
            return;
        log.error(fds[1].revents != 0
                      ? "stopped by a signal during the training."
                      : "another rank has ended: without it, the collective would never end.");
        std::_Exit(1);  // the main thread cannot be woken in Gloo
    }

    util::Fd over_;
    std::thread thread_;
};

}  // namespace lesson26
