// What the text and the JSON of a check say alike.
#pragma once

#include <string>
#include <vector>

#include "render/check_text.hpp"

namespace render {

/// "25 µs", "1.25 ms", "1.20 s".
std::string duration(std::int64_t ns);

/// "NAK", "timeout", "next answer", "not needed", "gave up", "open".
std::string how(const conformance::Recovery& recovery);

/// What followed a packet's fate, with the frames that show it; one sentence.
std::string evidence(const conformance::Recovery& recovery);

/// A finding's text with the further frames that it follows from.
std::string sentence(const conformance::Finding& finding);

/// Who does not do as specified: "server 192.0.2.1 as responder".
std::string blamed(const conformance::Report& report, const CheckContext& context,
                   const conformance::Finding& finding);

/// A line for each way of recovery: how often, and its times.
std::vector<std::string> recovery_summaries(const conformance::Report& report);

}  // namespace render
