// What a secret PSN is worth against somebody who has to guess it: which PSNs are accepted, how
// fast packets can be sent, and what follows from the two.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include <fmt/ranges.h>

#include "examples/07_secure_psn/random_psn.hpp"
#include "findings.hpp"
#include "forge/odds.hpp"
#include "forge/window.hpp"

class Blind {
  public:
    Blind(Stage& stage, runlog::Log& log) : stage_(stage), log_(log) {}

    /// Each probe is made on a connection of its own.
    void measure() {
        using forge::Ask;
        write_ = window("WRITE request", [&](std::int32_t offset) {
            const forge::Seen seen = stage_.connect("Honest. ");
            const auto psn = shifted(seen.packet().bth->psn + 1, offset);
            const Trial trial = stage_.attempt(forge::write_like(seen, psn, forged_));
            return Outcome{trial.changed_memory(), trial.changed_memory() ? "executed" : "refused"};
        });
        ack_ = window("ACK", [&](std::int32_t offset) {
            const Trial trial = answer(Ask::PostWrite, offset, forge::syndrome::ack);
            return Outcome{trial.completion() == "SUCCESS", outcome(trial)};
        });
        nak_ = window("NAK Remote Access Error", [&](std::int32_t offset) {
            const Trial trial =
                answer(Ask::PostWrite, offset, forge::syndrome::remote_access_error);
            return Outcome{trial.state() == "ERR", outcome(trial)};
        });
        read_response_ = window("READ response", [&](std::int32_t offset) {
            const forge::Seen request = stage_.see_request(Ask::PostRead);
            const Trial trial = stage_.attempt(
                forge::read_response_of(request, stage_.client().target().theirs.qpn,
                                        shifted(request.packet().bth->psn, offset), forged_));
            return Outcome{trial.changed_read(), outcome(trial)};
        });
    }

    /// So many WRITEs in which all is right but the PSN, which is a guess, at full speed.
    void guess(std::uint64_t count) {
        const forge::Seen seen = stage_.connect("Honest. ");
        std::vector<forge::Frame> frames;
        for (std::uint64_t i = 0; i < count; ++i)
            frames.push_back(forge::write_like(seen, wire::Psn(step07::random_psn()), forged_));
        const Stage::Burst burst = stage_.burst(frames);
        frame_bytes_ = frames.front().size();
        rate_ = burst.rate();
        const auto& [before, after, answers] = burst.trial;
        log_.event("guesses", {{"packets", count},
                               {"received", burst.received},
                               {"per_second", static_cast<std::uint64_t>(rate_)},
                               {"duplicate", grown(before.duplicate, after.duplicate)},
                               {"naks", std::ranges::count_if(answers, is_nak)},
                               {"memory", burst.trial.changed_memory() ? "CHANGED" : "same"},
                               {"state", burst.trial.state()}});
    }

    /// Are the other numbers that have to be guessed chosen at random?
    void look_at_numbers() {
        constexpr int count = 8;
        std::vector<std::uint32_t> qpns;
        for (int i = 0; i < count; ++i) {
            stage_.client().connect_deaf();
            qpns.push_back(stage_.client().target().theirs.qpn);
        }
        log_.event("numbers", {{"what", "QPNs"},
                               {"values", in_hexadecimal(qpns)},
                               {"pattern", steps_by_one(qpns) ? "each is the one before, plus 1"
                                                              : "no pattern seen"}});
        const std::vector<std::uint32_t> rkeys = stage_.client().make_rkeys(count);
        std::vector<std::uint32_t> indices;
        std::ranges::transform(rkeys, std::back_inserter(indices),
                               [](std::uint32_t rkey) { return rkey >> 8; });
        are_indices_known_ = steps_by_one(indices);
        log_.event("numbers",
                   {{"what", "rkeys"},
                    {"values", in_hexadecimal(rkeys)},
                    {"pattern", are_indices_known_ ? "bits 31:8 are the ones before, plus 1"
                                                   : "no pattern seen"}});
    }

    /// What a blind attacker has to send, by what is not known. A guess of the rkey that is wrong
    /// with the right PSN ends the connection, so that these rows take as many connections, too.
    void table() {
        constexpr double bits_24 = forge::psn_count;
        constexpr double bits_32 = 4294967296.0;
        constexpr double bits_8 = 256;
        const auto hits = [](const forge::Window& window) {
            return static_cast<double>(window.size());
        };
        head();
        row("change memory: the PSN", {bits_24, hits(write_)});
        row("change memory: PSN and QPN", {bits_24 * bits_24, hits(write_)});
        if (are_indices_known_)
            row("change memory: PSN and 8 bits of rkey", {bits_24 * bits_8, hits(write_)});
        row("change memory: PSN and 32 bits of rkey", {bits_24 * bits_32, hits(write_)});
        row("break the connection by a WRITE: PSN", {bits_24, hits(write_)});
        row("complete an open request by an ACK: PSN", {bits_24, hits(ack_)});
        row("break the connection by a NAK: PSN", {bits_24, hits(nak_)});
        row("answer an open READ: PSN", {bits_24, hits(read_response_)});
        row("replay: until its PSN has come round", {bits_24, 1});
    }

  private:
    struct Outcome {
        bool is_accepted;
        std::string_view text;
    };

    static wire::Psn shifted(wire::Psn psn, std::int32_t offset) {
        return wire::Psn(psn.value() + static_cast<std::uint32_t>(offset));
    }

    static std::string_view outcome(const Trial& trial) {
        return trial.completion().empty() ? "ignored" : trial.completion();
    }

    Trial answer(forge::Ask request_kind, std::int32_t offset, std::uint8_t syndrome) {
        const forge::Seen request = stage_.see_request(request_kind);
        return stage_.attempt(forge::acknowledge_of(request, stage_.client().target().theirs.qpn,
                                                    shifted(request.packet().bth->psn, offset),
                                                    syndrome));
    }

    template <typename Probe>
    forge::Window window(std::string_view what, const Probe& probe) {
        std::map<std::int32_t, std::string_view> outcomes;
        const forge::Window window = forge::measure_window([&](std::int32_t offset) {
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

    static bool is_nak(std::string_view answer) { return answer.starts_with("NAK"); }

    static bool steps_by_one(const std::vector<std::uint32_t>& values) {
        return std::ranges::adjacent_find(values, [](std::uint32_t a, std::uint32_t b) {
                   return b != a + 1;
               }) == values.end();
    }

    static std::string in_hexadecimal(const std::vector<std::uint32_t>& values) {
        return fmt::format("{:#x}", fmt::join(values, " "));
    }

    void line(std::string_view what, std::string_view packets, std::string_view at_100g,
              std::string_view at_10g, std::string_view here) {
        log_.note(fmt::format("{:<42}  {:>13}  {:>13}  {:>13}  {:>9}", what, packets, at_100g,
                              at_10g, here));
    }
    void head() {
        line("not known to the attacker", "one packet in", "at 100 Gbit/s", "at 10 Gbit/s",
             "this lab");
    }
    void row(std::string_view what, const forge::Odds& odds) {
        constexpr double gigabit = 1e9;
        const auto time = [&](double rate) { return forge::duration_text(odds.seconds(rate)); };
        const bool is_possible = odds.hits > 0;
        line(what, is_possible ? forge::count_text(odds.packets()) : "none",
             is_possible ? time(forge::line_rate(100 * gigabit, frame_bytes_)) : "",
             is_possible ? time(forge::line_rate(10 * gigabit, frame_bytes_)) : "",
             is_possible ? time(rate_) : "");
    }

    Stage& stage_;
    runlog::Log& log_;
    forge::Window write_, ack_, nak_, read_response_;
    double rate_ = 0;
    std::size_t frame_bytes_ = 0;
    bool are_indices_known_ = false;
    std::vector<std::byte> forged_ = common::pattern(HonestClient::message_size, "Forged. ");
};
