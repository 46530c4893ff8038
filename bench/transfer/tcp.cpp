#include <vector>

#include "bench/transfer/measure.hpp"
#include "net/channel.hpp"

namespace bench {

Nanoseconds send_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit) {
    const std::vector<std::byte> block(plan.size);
    const auto begin = util::Clock::now();
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.send(block, limit);
    net::barrier(channel, limit);
    return util::Clock::now() - begin;
}

void receive_over_tcp(net::Channel& channel, const Plan& plan, const net::TimeLimit& limit) {
    std::vector<std::byte> block(plan.size);
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.receive(block, limit);
    net::barrier(channel, limit);
}

}  // namespace bench
