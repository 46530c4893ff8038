// The measurements, each with functions for its two ends.
#pragma once

#include <chrono>
#include <vector>

#include "bench/transfer/link.hpp"
#include "bench/transfer/plan.hpp"

namespace bench {

using Nanoseconds = std::chrono::nanoseconds;

/// The active end of write_bw and read_bw: from the first post until the last completion.
/// Requests are posted `batch` at a time, as one list, and one of each list is signalled.
Nanoseconds stream(Link& link, const Plan& plan, const net::TimeLimit& limit);

/// In write_lat and send_lat, both ends play ping-pong; in read_lat, the active end posts READs,
/// one after the other. The samples are the active end's: half a round trip, as in perftest, or the
/// time from a READ's post to its completion. Warm-up rounds come first.
std::vector<Nanoseconds> ping(Link& link, const Plan& plan, const net::TimeLimit& limit);
void pong(Link& link, const Plan& plan, const net::TimeLimit& limit);

/// TCP: the sender's iterations of `size` bytes, until the receiver reports that it has them all.
Nanoseconds send_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit);
void receive_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit);

}  // namespace bench
