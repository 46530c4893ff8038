#include <vector>

#include "bench/transfer/measure.hpp"
#include "exchange/channel.hpp"

namespace bench {

Nanoseconds send_over_tcp(exchange::Channel& channel, const Plan& plan,
                          const exchange::Patience& patience) {
    const std::vector<std::byte> block(plan.size);
    const auto begin = util::Clock::now();
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.send(block, patience);
    exchange::meet(channel, patience);
    return util::Clock::now() - begin;
}

void receive_over_tcp(exchange::Channel& channel, const Plan& plan,
                      const exchange::Patience& patience) {
    std::vector<std::byte> block(plan.size);
    for (std::uint64_t i = 0; i < plan.iterations; ++i)
        channel.receive(block, patience);
    exchange::meet(channel, patience);
}

}  // namespace bench
