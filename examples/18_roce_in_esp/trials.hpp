// Lesson 18, the client: the effect of a forged packet, as reported by the server.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "net/channel.hpp"
#include "protocol.hpp"
#include "runlog/log.hpp"

namespace lesson18 {

class Trials {
  public:
    /// `timeout`: for each request to the server.
    Trials(net::Channel& channel, util::StopSignal& stop, std::chrono::milliseconds timeout,
           runlog::Log& log)
        : channel_(channel), stop_(stop), timeout_(timeout), log_(log), before_(ask()) {
        line("packet", "memory", "the server's kernel");
    }

    /// Logs the effect of the only packet since the last call. The server must have processed it.
    void judge(std::string_view packet) {
        const Report after = ask();
        std::string_view reason = "let it pass";
        for (std::size_t i = 0; i < reasons.size(); ++i)
            if (after.counts[i] != before_.counts[i])
                reason = reasons[i];
        line(packet, after.memory == before_.memory ? "same" : "CHANGED", reason);
        before_ = after;
    }

    /// Tells the server that there are no more requests.
    void finish() { channel_.send(std::array{std::byte{0}}, limit()); }

  private:
    net::TimeLimit limit() { return {stop_, util::deadline_in(timeout_)}; }

    Report ask() {
        channel_.send(std::array{std::byte{1}}, limit());
        std::array<std::byte, Report::size> bytes{};
        channel_.receive(bytes, limit());
        return Report::parse(bytes);
    }
    void line(std::string_view packet, std::string_view memory, std::string_view reason) {
        log_.note(fmt::format("{:<40}  {:<7}  {}", packet, memory, reason));
    }

    net::Channel& channel_;
    util::StopSignal& stop_;
    std::chrono::milliseconds timeout_;
    runlog::Log& log_;
    Report before_;
};

}  // namespace lesson18
