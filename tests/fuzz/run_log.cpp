// Input: a run log.
#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/check.hpp"
#include "fuzz/memory_file.hpp"
#include "render/explain_text.hpp"
#include "runlog/tail.hpp"
#include "trace/explain/explainer.hpp"
#include "util/printable.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const fuzz::MemoryFile file(bytes);
    runlog::Tail tail(file.path());
    explain::Explainer explainer({.streams = flow::Limits::least_streams});
    std::uint64_t events = 0;
    while (const auto event = tail.next()) {
        ++events;
        explainer.learn(*event);
        const std::string text = runlog::to_text(*event);
        fuzz::require(!text.empty(), "an event has words");
        fuzz::require(util::printable(text) == text,
                      "an event does not drive the terminal: " + text);
        const std::string json = runlog::to_json(*event);
        const auto again = runlog::from_json(json);
        fuzz::require(again && runlog::to_json(*again) == json, "an event is read as written");
        fuzz::require(again->role == event->role && again->name == event->name &&
                          again->t_ns == event->t_ns &&
                          again->fields.size() == event->fields.size(),
                      "an event keeps its fields: " + json);
    }
    const std::string explanation =
        render::explain_text(explainer.explanation(), {}, util::TextStyle());
    fuzz::require(util::printable_lines(explanation) == explanation,
                  "an explanation does not drive the terminal: " + explanation);
    fuzz::require(events + tail.skipped_lines() ==
                      static_cast<std::uint64_t>(std::ranges::count(bytes, std::byte{'\n'})),
                  "each line is an event or skipped");
    return 0;
}
