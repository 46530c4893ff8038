// Compares what rocecap's commands say of the same packets and logs.
#pragma once

#include <string>
#include <vector>

namespace support {

/// Expects that no statement of `explain` contradicts `check`, `flows`, `verify`, `timeline` or `decode`.
/// `input`: a run directory; or a capture, followed by --log options.
void expect_verdicts_agree(const std::vector<std::string>& input);

}  // namespace support
