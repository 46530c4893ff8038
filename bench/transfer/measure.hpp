// The measurements themselves, each with what its two ends do at the same time.
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

/// Both ends of write_lat and send_lat play ping-pong; with read_lat the active end alone READs,
/// one after the other. The active end's are the samples: half a round trip, as perftest has it, or
/// a READ from its post until its completion. Rounds to warm up come before.
std::vector<Nanoseconds> ping(Link& link, const Plan& plan, const net::TimeLimit& limit);
void pong(Link& link, const Plan& plan, const net::TimeLimit& limit);

/// TCP: the sender's iterations of `size` bytes, until the receiver has said that it has them all.
Nanoseconds send_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit);
void receive_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit);

}  // namespace bench
