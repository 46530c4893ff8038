#include "bench/transfer/end.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "bench/statistics.hpp"
#include "bench/transfer/measure.hpp"
#include "util/cpu_usage.hpp"

namespace bench {
namespace {

std::uint64_t count_of(Nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
}

runlog::Fields summary(const std::vector<Nanoseconds>& samples) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const Nanoseconds sample : samples)
        values.push_back(static_cast<double>(sample.count()));
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const auto whole = [](double ns) { return static_cast<std::uint64_t>(ns); };
    return {{"p50_ns", whole(percentile(values, 50))},
            {"p99_ns", whole(percentile(values, 99))},
            {"mean_ns", whole(sum / static_cast<double>(values.size()))}};
}

// Figures of the active end; the passive end has none.
runlog::Fields run_tcp(net::Channel& channel, End end, const Plan& plan,
                       const net::TimeLimit& limit) {
    if (end == End::Active)
        return {{"elapsed_ns", count_of(send_over_tcp(channel, plan, limit))}};
    receive_over_tcp(channel, plan, limit);
    return {};
}

runlog::Fields run_rdma(Link& link, End end, const Plan& plan, const net::TimeLimit& limit) {
    if (!plan.is_latency()) {
        if (end == End::Active)
            return {{"elapsed_ns", count_of(stream(link, plan, limit))}};
        return {};  // the device does it all
    }
    if (end == End::Active)
        return summary(ping(link, plan, limit));
    if (plan.test != Test::ReadLatency)
        pong(link, plan, limit);
    return {};
}

}  // namespace

void measure(net::TcpChannel& channel, End end, const Plan& plan, runlog::Log& log,
             const net::TimeLimit& limit) {
    std::optional<Link> link;
    if (plan.test != Test::Tcp)
        link.emplace(channel, channel.socket().local(), plan, limit);
    net::barrier(channel, limit);
    const util::CpuUsage before = util::CpuUsage::now();
    const runlog::Fields figures =
        link ? run_rdma(*link, end, plan, limit) : run_tcp(channel, end, plan, limit);
    net::barrier(channel, limit);
    runlog::Fields fields{
        {"test", name_of(plan.test)},
        {"size", plan.size},
        {"iterations", plan.iterations},
        {"machine_busy_ns", count_of((util::CpuUsage::now() - before).machine())}};
    fields.insert(fields.end(), figures.begin(), figures.end());
    log.event("result", std::move(fields));
}

}  // namespace bench
