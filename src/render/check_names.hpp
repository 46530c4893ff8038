// Strings that the text and the JSON of a check share.
#pragma once

#include <string>
#include <vector>

#include "render/check_text.hpp"

namespace render {

/// "25 µs", "1.25 ms", "1.20 s".
std::string duration(std::int64_t ns);

/// "NAK", "timeout", "sent again", "response", "not needed", "gave up", "undetermined".
std::string how(const conformance::Recovery& recovery);

/// One sentence: what followed the link emulator's action, with the frames that show it.
std::string evidence(const conformance::Recovery& recovery);

/// The text of a finding and the other frames that it is based on.
std::string sentence(const conformance::Finding& finding);

/// The host that violates the specification: "server 192.0.2.1 as responder".
std::string blamed(const conformance::Report& report, const CheckContext& context,
                   const conformance::Finding& finding);

/// One line per kind of recovery: the count and the times.
std::vector<std::string> recovery_summaries(const conformance::Report& report);

}  // namespace render
