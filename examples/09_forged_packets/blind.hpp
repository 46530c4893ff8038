// Lesson 09, the client: how well a secret PSN protects against guessing. Measures which PSNs are
// accepted, how fast packets can be sent, and how the other numbers are chosen.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include <fmt/ranges.h>

#include "examples/07_secure_psn/random_psn.hpp"
#include "odds_table.hpp"
#include "stage.hpp"
#include "window.hpp"

namespace lesson09 {

class Blind {
  public:
    Blind(Stage& stage, runlog::Log& log) : stage_(stage), log_(log) {}

    /// Each probe uses its own connection.
    void measure() {
        measured_.write = window("WRITE request", [&](std::int32_t offset) {
            const CapturedFrame seen = stage_.connect("Honest. ");
            const auto psn = shifted(seen.packet().bth->psn + 1, offset);
            const Trial trial = stage_.attempt(write_like(seen, psn, forged_));
            return Outcome{trial.changed_memory(), trial.changed_memory() ? "executed" : "refused"};
        });
        measured_.ack = window("ACK", [&](std::int32_t offset) {
            const Trial trial = answer(Ask::PostWrite, offset, syndrome::ack);
            return Outcome{trial.completion() == "SUCCESS", trial.outcome()};
        });
        measured_.nak = window("NAK Remote Access Error", [&](std::int32_t offset) {
            const Trial trial = answer(Ask::PostWrite, offset, syndrome::remote_access_error);
            return Outcome{trial.state() == "ERR", trial.outcome()};
        });
        measured_.read_response = window("READ response", [&](std::int32_t offset) {
            const CapturedFrame request = stage_.see_request(Ask::PostRead);
            const Trial trial = stage_.attempt(
                read_response_of(request, stage_.client().target().theirs.qpn,
                                 shifted(request.packet().bth->psn, offset), forged_));
            return Outcome{trial.changed_read(), trial.outcome()};
        });
    }

    /// Sends `count` WRITEs at full speed, valid except for their PSN, which is a guess.
    void guess(std::uint64_t count) {
        const CapturedFrame seen = stage_.connect("Honest. ");
        std::vector<Frame> frames;
        for (std::uint64_t i = 0; i < count; ++i)
            frames.push_back(write_like(seen, wire::Psn(lesson07::random_psn()), forged_));
        const Stage::Burst burst = stage_.burst(frames);
        measured_.frame_bytes = frames.front().size();
        measured_.rate = burst.rate();
        const auto& [before, after, answers] = burst.trial;
        log_.event("guesses", {{"packets", count},
                               {"received", burst.received},
                               {"per_second", static_cast<std::uint64_t>(measured_.rate)},
                               {"duplicate", grown(before.duplicate, after.duplicate)},
                               {"naks", std::ranges::count_if(answers,
                                                              [](std::string_view answer) {
                                                                  return answer.starts_with("NAK");
                                                              })},
                               {"memory", burst.trial.changed_memory() ? "CHANGED" : "same"},
                               {"state", burst.trial.state()}});
    }

    /// Checks whether the other numbers that an attacker must guess are random.
    void look_at_numbers() {
        constexpr int count = 8;
        std::vector<std::uint32_t> qpns;
        for (int i = 0; i < count; ++i) {
            stage_.client().connect_deaf();
            qpns.push_back(stage_.client().target().theirs.qpn);
        }
        log_numbers(
            "QPNs", qpns,
            steps_by_one(qpns) ? "each is one more than the previous one" : "no pattern seen");
        const std::vector<std::uint32_t> rkeys = stage_.client().own().make_rkeys(count);
        std::vector<std::uint32_t> indices;
        std::ranges::transform(rkeys, std::back_inserter(indices),
                               [](std::uint32_t rkey) { return rkey >> 8; });
        measured_.are_indices_known = steps_by_one(indices);
        log_numbers("rkeys", rkeys,
                    measured_.are_indices_known ? "bits 31:8 increase by 1" : "no pattern seen");
    }

    const Measured& measured() const { return measured_; }

  private:
    struct Outcome {
        bool is_accepted;
        std::string_view text;
    };

    static wire::Psn shifted(wire::Psn psn, std::int32_t offset) {
        return wire::Psn(psn.value() + static_cast<std::uint32_t>(offset));
    }

    Trial answer(Ask request_kind, std::int32_t offset, std::uint8_t syndrome) {
        const CapturedFrame request = stage_.see_request(request_kind);
        return stage_.attempt(acknowledge_of(request, stage_.client().target().theirs.qpn,
                                             shifted(request.packet().bth->psn, offset), syndrome));
    }

    template <typename Probe>
    Window window(std::string_view what, const Probe& probe) {
        std::map<std::int32_t, std::string_view> outcomes;
        const Window window = measure_window([&](std::int32_t offset) {
            const Outcome outcome = probe(offset);
            outcomes[offset] = outcome.text;
            return outcome.is_accepted;
        });
        for (const auto& [offset, text] : outcomes)
            log_.event(
                "probe",
                {{"what", what}, {"offset", fmt::format("{:+}", offset)}, {"outcome", text}});
        log_.event("window", {{"what", what},
                              {"size", window.size()},
                              {"lowest", window.lowest},
                              {"highest", window.highest},
                              {"probes", window.probes}});
        return window;
    }

    static bool steps_by_one(const std::vector<std::uint32_t>& values) {
        return std::ranges::adjacent_find(values, [](std::uint32_t a, std::uint32_t b) {
                   return b != a + 1;
               }) == values.end();
    }

    void log_numbers(std::string_view what, const std::vector<std::uint32_t>& values,
                     std::string_view pattern) {
        log_.event("numbers", {{"what", what},
                               {"values", fmt::format("{:#x}", fmt::join(values, " "))},
                               {"pattern", pattern}});
    }

    Stage& stage_;
    runlog::Log& log_;
    Measured measured_;
    std::vector<std::byte> forged_ = common::pattern(message_size, "Forged. ");
};

}  // namespace lesson09
