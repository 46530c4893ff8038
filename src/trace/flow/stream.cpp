#include "trace/flow/stream.hpp"

namespace flow {

void Stream::release(Pools& pools) {
    outstanding.release(pools.outstanding);
    ack.release(pools.latencies);
    read_first.release(pools.latencies);
    read_last.release(pools.latencies);
}

}  // namespace flow
