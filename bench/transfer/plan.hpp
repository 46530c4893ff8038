// One measurement of `make bench`: what is done, how often, and how its ends wait. Both ends are
// given the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "examples/common/program.hpp"

namespace bench {

enum class Test : std::uint8_t {
    WriteBandwidth,
    ReadBandwidth,
    WriteLatency,
    ReadLatency,
    SendLatency,
    Tcp
};

struct TestName {
    Test test;
    std::string_view name;
};
/// "write_bw", "read_bw", "write_lat", "read_lat", "send_lat", "tcp".
std::span<const TestName> test_names();
std::string_view name_of(Test test);

struct Plan {
    Test test = Test::WriteBandwidth;
    std::uint64_t size = 65'536;      ///< bytes of a message; of tcp, of one send()
    std::uint64_t iterations = 1000;  ///< messages; of a ping-pong, round trips
    std::uint64_t depth = 128;        ///< requests posted and not yet complete, at most
    std::uint64_t batch = 16;         ///< requests given to one ibv_post_send, of bandwidths
    bool is_polling = false;          ///< bandwidths: never sleeps while it waits

    bool is_latency() const {
        return test == Test::WriteLatency || test == Test::ReadLatency || test == Test::SendLatency;
    }
};

/// What of a Plan the command line says, `--test` as text until parse_test().
struct PlanOptions {
    std::string test;
    Plan plan;
};
void add(common::CommandLine& command_line, PlanOptions& options);
/// Throws util::Error where there is no such test.
Plan plan_of(const PlanOptions& options);

}  // namespace bench
