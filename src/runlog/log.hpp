// The run log of a step: each event as text for people and, if requested, as a JSON line for
// programs.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "runlog/event.hpp"
#include "runlog/psn_mask.hpp"
#include "util/fd.hpp"

namespace runlog {

/// The current time as in events: CLOCK_REALTIME in nanoseconds since 1970.
std::int64_t now_ns();

/// Several threads may call its functions, except hide_psns().
class Log {
  public:
    /// `json_path`: file for the JSON lines; empty: none, "-": standard output (the text then goes
    /// to standard error). An existing file is truncated. Throws as util::open_output() does.
    Log(std::string role, const std::string& json_path);

    /// Writes one event with the current time. Throws util::Error if the text or the JSON cannot be
    /// written; the JSON then ends with the last whole line, and nothing more is written to it.
    void event(std::string_view name, Fields fields = {});

    /// The same with an earlier time, in nanoseconds since 1970, for measurements that immediate
    /// logging would delay. The log must not contain a later event yet.
    void event_at(std::int64_t t_ns, std::string_view name, Fields fields);

    /// Writes an event that already has a time and role. Does not call the function of
    /// before_each().
    void write(Event event);

    /// Sets a function that event(), event_at(), note() and error() call first, for example to
    /// write() earlier events. Must not be called while another thread uses the log.
    void before_each(std::function<void()> call) { before_ = std::move(call); }

    void note(std::string_view text) { event("note", {{key::text, text}}); }

    /// Reports what ended the run: one sentence on standard error, wherever the other text goes,
    /// and an "error" event.
    void error(std::string_view text);

    /// Hides the PSNs of all later events in text and JSON, see PsnMask. Sentences that the caller
    /// provides are written unchanged.
    void hide_psns();

    const std::string& role() const { return role_; }

  private:
    void write_json(const Event& event);

    std::string role_;
    std::string path_;
    util::Fd file_;
    int text_ = STDOUT_FILENO;
    int json_ = -1;  // none
    std::optional<PsnMask> psn_mask_;
    std::function<void()> before_;
    std::mutex mutex_;  // keeps events whole and in the same order in both outputs
};

}  // namespace runlog
