// How long a blind attacker needs, who sees no packet and guesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace forge {

/// Of `space` equally likely combinations, `hits` do what the attacker wants.
struct Odds {
    double space = 1;
    double hits = 1;

    /// Packets that try every combination until one is sure to hit: about twice as many as it takes
    /// on average.
    double packets() const { return space / hits; }
    double seconds(double packets_per_second) const { return packets() / packets_per_second; }
};

/// Packets a second on a link of `bits_per_second`, for a frame of `frame_bytes` without its FCS.
/// On the wire it has 24 bytes more: preamble, FCS and the gap to the next (IEEE 802.3).
double line_rate(double bits_per_second, std::size_t frame_bytes);

/// "140 ms", "8.2 min", "26 days", "18 years".
std::string duration_text(double seconds);
/// "2", "16777216", "2.8e+14".
std::string count_text(double count);

}  // namespace forge
