// What a secret PSN is worth against somebody who has to guess it: which PSNs are accepted, how
// fast packets can be sent, and what follows from the two.
#pragma once

#include <map>
#include <string>

#include "findings.hpp"
#include "forge/odds.hpp"
#include "forge/window.hpp"

struct Windows {
    forge::Window write, ack, nak, read_response;
};

class Blind {
  public:
    Blind(Stage& stage, runlog::Log& log) : stage_(stage), log_(log) {}

    Windows measure() {
        using forge::Ask;
        Windows windows;
        windows.write = window("WRITE request", [&](std::int32_t offset) {
            const forge::Seen seen = stage_.connect("Honest. ");
            const auto psn = shifted(seen.packet().bth->psn + 1, offset);
            const Trial trial = stage_.attempt(forge::write_like(seen, psn, forged_));
            return Outcome{trial.changed_memory(), trial.changed_memory() ? "executed" : "refused"};
        });
        windows.ack = window("ACK", [&](std::int32_t offset) {
            const Trial trial = answer(Ask::PostWrite, offset, forge::syndrome::ack);
            return Outcome{trial.completion() == "SUCCESS", outcome(trial)};
        });
        windows.nak = window("NAK Remote Access Error", [&](std::int32_t offset) {
            const Trial trial =
                answer(Ask::PostWrite, offset, forge::syndrome::remote_access_error);
            return Outcome{trial.state() == "ERR", outcome(trial)};
        });
        windows.read_response = window("READ response", [&](std::int32_t offset) {
            stage_.connect_deaf();
            const forge::Seen request = stage_.see_request(Ask::PostRead);
            const Trial trial = stage_.attempt(
                forge::read_response_of(request, stage_.target().theirs.qpn,
                                        shifted(request.packet().bth->psn, offset), forged_));
            return Outcome{trial.before.read_crc != trial.after.read_crc, outcome(trial)};
        });
        return windows;
    }

    /// So many WRITEs in which all is right but the PSN, which is a guess. Packets a second.
    double guess(std::uint64_t count) {
        const forge::Seen seen = stage_.connect("Honest. ");
        std::vector<forge::Frame> frames;
        for (std::uint64_t i = 0; i < count; ++i)
            frames.push_back(forge::write_like(seen, wire::Psn(exchange::random_psn()), forged_));
        const Stage::Burst burst = stage_.burst(frames);
        log_.event("guesses",
                   {{"packets", count},
                    {"received", burst.received},
                    {"ms", static_cast<std::uint64_t>(burst.seconds * 1e3)},
                    {"per_second", static_cast<std::uint64_t>(burst.rate())},
                    {"memory", burst.trial.changed_memory() ? "CHANGED" : "same"},
                    {"duplicate", *burst.trial.after.duplicate - *burst.trial.before.duplicate},
                    {"state", burst.trial.state()}});
        return burst.rate();
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
        stage_.connect_deaf();
        const forge::Seen request = stage_.see_request(request_kind);
        return stage_.attempt(forge::acknowledge_of(request, stage_.target().theirs.qpn,
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

    Stage& stage_;
    runlog::Log& log_;
    std::vector<std::byte> forged_ = lesson::pattern(Stage::message_size, "Forged. ");
};
