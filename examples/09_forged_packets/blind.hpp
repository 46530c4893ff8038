// Lesson 09, the client: how well a secret PSN protects against guessing. Measures which PSNs are
// accepted, how fast packets can be sent, and how the other numbers are chosen.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

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
            const Frame frame = write_like(seen, psn, forged_);
            measured_.short_write_bytes =
                write_like(seen, psn, util::Bytes(forged_).first(4)).size();
            const Trial trial = stage_.attempt(frame);
            return Outcome{trial.changed_memory(), trial.changed_memory() ? "executed" : "refused",
                           frame.size()};
        });
        measured_.ack = window("ACK", [&](std::int32_t offset) {
            const auto [trial, bytes] = answer(offset, syndrome::ack);
            return Outcome{trial.completion() == "SUCCESS", trial.outcome(), bytes};
        });
        measured_.nak = window("NAK Remote Access Error", [&](std::int32_t offset) {
            const auto [trial, bytes] = answer(offset, syndrome::remote_access_error);
            return Outcome{trial.state() == "ERR", trial.outcome(), bytes};
        });
        measured_.read_response = window("READ response", [&](std::int32_t offset) {
            const CapturedFrame request = stage_.see_request(Ask::PostRead);
            const Frame frame =
                read_response_of(request, stage_.client().target().theirs.qpn,
                                 shifted(request.packet().bth->psn, offset), forged_);
            const Trial trial = stage_.attempt(frame);
            return Outcome{trial.changed_read(), trial.outcome(), frame.size()};
        });
    }

    /// Sends `count` WRITEs at full speed, valid except for their PSN, which is a guess.
    void guess(std::uint64_t count) {
        const CapturedFrame seen = stage_.connect("Honest. ");
        std::vector<Frame> frames;
        for (std::uint64_t i = 0; i < count; ++i)
            frames.push_back(write_like(seen, wire::Psn(lesson07::random_psn()), forged_));
        const Stage::Burst burst = stage_.burst(frames);
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
        std::size_t frame_bytes;
    };

    static wire::Psn shifted(wire::Psn psn, std::int32_t offset) {
        return wire::Psn(psn.value() + static_cast<std::uint32_t>(offset));
    }

    // Answers a WRITE of the server. Returns the effects, and the length of the forged frame.
    std::pair<Trial, std::size_t> answer(std::int32_t offset, std::uint8_t syndrome) {
        const CapturedFrame request = stage_.see_request(Ask::PostWrite);
        const Frame frame = acknowledge_of(request, stage_.client().target().theirs.qpn,
                                           shifted(request.packet().bth->psn, offset), syndrome);
        return {stage_.attempt(frame), frame.size()};
    }

    template <typename Probe>
    Forgery window(std::string_view what, const Probe& probe) {
        std::map<std::int32_t, std::string_view> outcomes;
        std::size_t frame_bytes = 0;
        const Window window = measure_window([&](std::int32_t offset) {
            const Outcome outcome = probe(offset);
            outcomes[offset] = outcome.text;
            frame_bytes = outcome.frame_bytes;
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
        return {window, frame_bytes};
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
