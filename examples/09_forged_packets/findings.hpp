// Lesson 09, the client: the result of each forgery, as log events and as a table at the end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runlog/log.hpp"
#include "trial.hpp"
#include "wire/psn.hpp"

namespace lesson09 {

class Findings {
  public:
    explicit Findings(runlog::Log& log) : log_(log) {}

    /// A packet to the server as responder. `refusal`: what a NAK "Remote Access Error" refers to
    /// in this case.
    void request(std::string_view name, std::string_view packet, const Trial& trial,
                 std::string_view refusal = "rkey") {
        Finding finding = begin(name, packet, trial);
        finding.memory = trial.changed_memory() ? "CHANGED" : "same";
        finding.stopped_by = trial.changed_memory() ? "nothing" : barrier(trial, refusal);
        keep(std::move(finding), trial);
    }

    /// A packet to the server as requester. `is_harmed`: the forgery had the intended effect.
    void answer(std::string_view name, std::string_view packet, const Trial& trial,
                bool is_harmed) {
        Finding finding = begin(name, packet, trial);
        finding.responder = fmt::format("completes: {}", trial.completion());
        finding.memory = trial.changed_read() ? "CHANGED" : "same";
        finding.stopped_by = is_harmed ? "nothing" : "PSN";
        keep(std::move(finding), trial);
    }

    /// The honest client's own next WRITE, with this status.
    void honest(std::string_view name, const Trial& trial, std::string_view status) {
        Finding finding = begin(name, "the client's own next WRITE", trial);
        finding.responder =
            fmt::format("{}: {}", trial.answers.empty() ? "nothing" : finding.responder, status);
        finding.memory = trial.changed_memory() ? "written" : "same";
        if (trial.state() == "ERR")
            finding.stopped_by = "QP in ERR";
        else if (!trial.changed_memory())
            finding.stopped_by = barrier(trial, "");
        keep(std::move(finding), trial);
    }

    void table() {
        line("", "packet", "the server", "memory", "QP", "stopped by");
        for (const Finding& f : findings_)
            line(f.name, f.packet, f.responder, f.memory, f.state, f.stopped_by);
    }

  private:
    struct Finding {
        std::string name, packet, responder, memory, state, stopped_by;
    };

    // The counter includes the witness's packet.
    static bool was_counted(const Trial& trial) {
        return !trial.after.received || grown(trial.before.received, trial.after.received) > 1;
    }

    static std::string_view barrier(const Trial& trial, std::string_view refusal) {
        if (!was_counted(trial))
            return "source address";
        if (grown(trial.before.duplicate, trial.after.duplicate) > 0)
            return "PSN: a duplicate";
        if (grown(trial.before.out_of_sequence, trial.after.out_of_sequence) > 0)
            return "PSN: out of sequence";
        return trial.answers.empty() ? "unexplained" : refusal;
    }

    static Finding begin(std::string_view name, std::string_view packet, const Trial& trial) {
        std::string answers = fmt::format("{}", fmt::join(trial.answers, ", "));
        if (answers.empty())
            answers = was_counted(trial) ? "nothing" : "nothing, not counted";
        return {
            std::string(name), std::string(packet), answers, "", std::string(trial.state()), ""};
    }

    static std::string first_text(std::span<const std::byte> bytes) {
        std::string text;
        for (const std::byte byte : bytes)
            if (byte != std::byte{0})
                text += static_cast<char>(byte);
        return text;
    }

    void keep(Finding finding, const Trial& trial) {
        log_.event("forgery",
                   {{"name", finding.name},
                    {"packet", finding.packet},
                    {"responder", finding.responder},
                    {"memory", finding.memory},
                    {"crc_before", trial.before.memory_crc},
                    {"crc_after", trial.after.memory_crc},
                    {"begins", first_text(trial.after.begins)},
                    {"state", finding.state},
                    {"advanced", (trial.after.rq_psn - trial.before.rq_psn) & wire::Psn::mask},
                    {"stopped_by", finding.stopped_by},
                    {"received", grown(trial.before.received, trial.after.received)},
                    {"sent", grown(trial.before.sent, trial.after.sent)},
                    {"duplicate", grown(trial.before.duplicate, trial.after.duplicate)},
                    {"out_of_sequence",
                     grown(trial.before.out_of_sequence, trial.after.out_of_sequence)}});
        findings_.push_back(std::move(finding));
    }

    void line(std::string_view name, std::string_view packet, std::string_view responder,
              std::string_view memory, std::string_view state, std::string_view stopped_by) {
        log_.note(fmt::format("{:<2}  {:<34}  {:<25}  {:<7}  {:<3}  {}", name, packet, responder,
                              memory, state, stopped_by));
    }

    runlog::Log& log_;
    std::vector<Finding> findings_;
};

}  // namespace lesson09
