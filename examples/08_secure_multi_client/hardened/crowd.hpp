// Lesson 08, hardened, the client: many clients in one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runlog/log.hpp"
#include "setup_times.hpp"

namespace lesson08 {

/// Runs all clients phase by phase: a phase begins when all clients have finished the one before. A
/// client that fails drops out.
template <typename Client>
class Crowd {
  public:
    /// `at_once`: number of clients that run a phase in parallel, each on its own thread.
    Crowd(std::vector<std::unique_ptr<Client>> clients, std::size_t at_once, runlog::Log& log)
        : clients_(std::move(clients)), at_once_(at_once), log_(log) {}

    void each(std::string_view what, void (Client::*phase)()) {
        Stopwatch watch;
        {
            std::atomic<std::size_t> next = 0;
            std::vector<std::jthread> threads;
            while (threads.size() < std::min(at_once_, clients_.size()))
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

    /// Logs a "setup" event.
    void log_setup() const {
        SetupTimes setup;
        for (const auto& client : clients_)
            if (client)
                setup.add(client->times());
        log_.event("setup", setup.describe());
    }

    /// Returns the number of failed clients, and logs how many were not reported by name.
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
    std::size_t at_once_;
    runlog::Log& log_;
    std::atomic<std::size_t> failures_ = 0;
};

}  // namespace lesson08
