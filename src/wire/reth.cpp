#include "wire/reth.hpp"

namespace wire {

Reth Reth::parse(util::FixedBytes<size> bytes) {
    return {
        .va = util::be64<0>(bytes),
        .rkey = util::be32<8>(bytes),
        .dmalen = util::be32<12>(bytes),
    };
}

void Reth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, va);
    util::put_be32<8>(out, rkey);
    util::put_be32<12>(out, dmalen);
}

}  // namespace wire
