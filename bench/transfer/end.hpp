// The code of both programs: one measurement between them, with its result in the run log.
#pragma once

#include "bench/transfer/plan.hpp"
#include "net/tcp.hpp"
#include "runlog/log.hpp"

namespace bench {

inline constexpr std::uint16_t transfer_port = 18'530;

enum class End : std::uint8_t { Active, Passive };

/// Runs `plan` over an established connection and writes a "result" event: test, size, iterations
/// and machine_busy_ns on both ends; on the active one also elapsed_ns and, for a latency, p50_ns,
/// p99_ns and mean_ns. Throws util::Error.
void measure(net::TcpChannel& channel, End end, const Plan& plan, runlog::Log& log,
             const net::TimeLimit& limit);

}  // namespace bench
