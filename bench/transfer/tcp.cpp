#include <vector>

#include "bench/transfer/measure.hpp"
#include "exchange/channel.hpp"

namespace bench {

Nanoseconds send_over_tcp(exchange::Channel& channel, const Plan& plan,
                          const exchange::TimeLimit& limit) {
    const std::vector<std::byte> block(plan.size);
    const auto begin = util::Clock::now();
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.send(block, limit);
    exchange::barrier(channel, limit);
    return util::Clock::now() - begin;
}

void receive_over_tcp(exchange::Channel& channel, const Plan& plan,
                      const exchange::TimeLimit& limit) {
    std::vector<std::byte> block(plan.size);
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.receive(block, limit);
    exchange::barrier(channel, limit);
}

}  // namespace bench
