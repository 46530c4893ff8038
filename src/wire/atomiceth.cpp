#include "wire/atomiceth.hpp"

namespace wire {

AtomicEth AtomicEth::parse(util::FixedBytes<size> bytes) {
    return {
        .va = util::be64<0>(bytes),
        .rkey = util::be32<8>(bytes),
        .swapdt = util::be64<12>(bytes),
        .cmpdt = util::be64<20>(bytes),
    };
}

void AtomicEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, va);
    util::put_be32<8>(out, rkey);
    util::put_be64<12>(out, swapdt);
    util::put_be64<20>(out, cmpdt);
}

AtomicAckEth AtomicAckEth::parse(util::FixedBytes<size> bytes) {
    return {.origremdt = util::be64<0>(bytes)};
}

void AtomicAckEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, origremdt);
}

}  // namespace wire
