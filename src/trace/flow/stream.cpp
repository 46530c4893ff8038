#include "trace/flow/stream.hpp"

namespace flow {

void Stream::release(Pools& pools) {
    outstanding.release(pools.outstanding);
    ack.release(pools.latencies);
    read_first.release(pools.latencies);
    read_last.release(pools.latencies);
}

std::optional<wire::Psn> StreamFacts::announced_instead_of(wire::Psn psn) const {
    if (!was_set_up || !first_psn)
        return std::nullopt;
    const std::int32_t ahead = distance(*first_psn, psn);
    const bool is_near = ahead >= -longest_jump && ahead <= longest_jump;
    return ahead != 0 && is_near ? first_psn : std::nullopt;
}

}  // namespace flow
