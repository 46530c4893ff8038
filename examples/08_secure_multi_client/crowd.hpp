// The many clients of step 08's client, in one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runlog/log.hpp"
#include "service/setup_times.hpp"

namespace step08 {

/// They go phase by phase: nobody begins one before all others have ended the one before. Whoever
/// fails is out, and the others go on.
template <typename Client>
class Crowd {
  public:
    Crowd(std::vector<std::unique_ptr<Client>> clients, runlog::Log& log)
        : clients_(std::move(clients)), log_(log) {}

    /// `at_once`: so many on threads of their own at a time.
    void each(std::string_view what, std::size_t at_once, void (Client::*phase)()) {
        service::Stopwatch watch;
        {
            std::atomic<std::size_t> next = 0;
            std::vector<std::jthread> threads;
            while (threads.size() < std::min(at_once, clients_.size()))
                threads.emplace_back([this, &next, phase] {
                    for (std::size_t i = next++; i < clients_.size(); i = next++)
                        if (clients_[i])
                            attempt(i, phase);
                });
        }
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(watch.lap());
        log_.event("clients", {{"what", what},
                               {"done", clients_.size() - failures_},
                               {"clients", clients_.size()},
                               {"took_ms", took.count()}});
    }

    /// A "setup" event.
    void log_setup() const {
        service::SetupTimes setup;
        for (const auto& client : clients_)
            if (client)
                setup.add(client->times());
        log_.event("setup", setup.describe());
    }

    /// How many have failed. Says so where there were too many to name each.
    std::size_t failures() const {
        if (failures_ > named)
            log_.error(fmt::format("{} more clients failed.", failures_ - named));
        return failures_;
    }

  private:
    static constexpr std::size_t named = 10;

    void attempt(std::size_t i, void (Client::*phase)()) {
        try {
            (*clients_[i].*phase)();
        } catch (const std::exception& error) {
            clients_[i].reset();
            if (++failures_ <= named)
                log_.error(fmt::format("client {}: {}", i + 1, error.what()));
        }
    }

    std::vector<std::unique_ptr<Client>> clients_;
    runlog::Log& log_;
    std::atomic<std::size_t> failures_ = 0;
};

}  // namespace step08
