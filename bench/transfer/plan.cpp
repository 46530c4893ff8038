#include "bench/transfer/plan.hpp"

#include <algorithm>
#include <array>

#include "util/error.hpp"

namespace bench {
namespace {

constexpr std::array names{
    TestName{Test::WriteBandwidth, "write_bw"}, TestName{Test::ReadBandwidth, "read_bw"},
    TestName{Test::WriteLatency, "write_lat"},  TestName{Test::ReadLatency, "read_lat"},
    TestName{Test::SendLatency, "send_lat"},    TestName{Test::Tcp, "tcp"},
};

}  // namespace

std::span<const TestName> test_names() {
    return names;
}

std::string_view name_of(Test test) {
    return std::ranges::find(names, test, &TestName::test)->name;
}

void add(common::CommandLine& command_line, PlanOptions& options) {
    Plan& plan = options.plan;
    command_line.text("--test", options.test,
                      "write_bw, read_bw, write_lat, read_lat, send_lat or tcp");
    command_line.size("--size", plan.size, 1, 1u << 30, "Bytes of a message");
    command_line.number("--iterations", plan.iterations, 1, 100'000'000, "Messages");
    command_line.number("--depth", plan.depth, 1, 8192, "Maximum number of requests in flight");
    command_line.number("--batch", plan.batch, 1, 8192,
                        "Requests posted by one call, of which the last is signalled");
    command_line.flag("--poll", plan.is_polling, "Poll for completions, never sleep");
}

Plan plan_of(const PlanOptions& options) {
    const auto found = std::ranges::find(names, options.test, &TestName::name);
    if (found == names.end())
        throw util::Error(
            "--test is write_bw, read_bw, write_lat, read_lat, send_lat or tcp, not '" +
            options.test + "'.");
    Plan plan = options.plan;
    plan.test = found->test;
    plan.batch = std::min(plan.batch, plan.depth);
    return plan;
}

}  // namespace bench
