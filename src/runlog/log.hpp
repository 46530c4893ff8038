// The run log a step writes: each event once as text for people and, where asked for, once as a
// JSON line for programs.
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

/// The present time as events have it: CLOCK_REALTIME in nanoseconds since 1970.
std::int64_t now_ns();

/// Its calls may come from several threads, but for hide_psns().
class Log {
  public:
    /// `json_path`: where the JSON lines go; empty: nowhere, "-": standard output (the text then
    /// goes to standard error). An older file is emptied. Throws as util::open_output().
    Log(std::string role, const std::string& json_path);

    /// Writes one event with the present time. Throws util::Error when the text or the JSON cannot
    /// be written; the JSON then ends with the last whole line, and gets no more.
    void event(std::string_view name, Fields fields = {});

    /// The same with the time when it happened, in nanoseconds since 1970: of what is measured,
    /// which writing it down at once would delay. Nothing that happened later may be in the log
    /// already.
    void event_at(std::int64_t t_ns, std::string_view name, Fields fields);

    /// An event that was made elsewhere, with its time and role. What before_each() was given is not
    /// called.
    void write(Event event);

    /// Called before each event of event(), event_at(), note() and error() is written, to write()
    /// first what happened before it. Not while another thread uses the log.
    void before_each(std::function<void()> call) { before_ = std::move(call); }

    void note(std::string_view text) { event("note", {{"text", text}}); }

    /// What ended the run: one sentence on standard error, whatever the other text goes to, and an
    /// "error" event.
    void error(std::string_view text);

    /// From here on no event is written with a PSN in it, neither as text nor as JSON: PsnMask says
    /// what stands there instead. A sentence that the caller makes is written as it is.
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
    std::mutex mutex_;  // events are whole, and in one order, in both renderings
};

}  // namespace runlog
