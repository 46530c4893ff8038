// One measurement of `make bench`: the test, its iterations, and how its ends wait. Both ends have
// the same plan.
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
    std::uint64_t size = 65'536;      ///< bytes of a message; for tcp, of one send()
    std::uint64_t iterations = 1000;  ///< messages; for a ping-pong, round trips
    std::uint64_t depth = 128;        ///< limit of outstanding requests
    std::uint64_t batch = 16;         ///< bandwidths: requests per ibv_post_send
    bool is_polling = false;          ///< bandwidths: never sleeps while waiting

    bool is_latency() const {
        return test == Test::WriteLatency || test == Test::ReadLatency || test == Test::SendLatency;
    }
};

/// The part of a Plan from the command line, with `--test` as text.
struct PlanOptions {
    std::string test;
    Plan plan;
};
void add(common::CommandLine& command_line, PlanOptions& options);
/// Throws util::Error if the test does not exist.
Plan plan_of(const PlanOptions& options);

}  // namespace bench
