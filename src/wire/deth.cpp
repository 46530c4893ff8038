#include "wire/deth.hpp"

namespace wire {

// In all three a reserved byte stands in front of the 24-bit number; senders write 0 there.

Deth Deth::parse(util::FixedBytes<size> bytes) {
    return {.q_key = util::be32<0>(bytes), .src_qpn = util::be24<5>(bytes)};
}

void Deth::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, q_key);
    util::put_be8<4>(out, 0);
    util::put_be24<5>(out, src_qpn);
}

Rdeth Rdeth::parse(util::FixedBytes<size> bytes) {
    return {.eecnxt = util::be24<1>(bytes)};
}

void Rdeth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, 0);
    util::put_be24<1>(out, eecnxt);
}

Xrceth Xrceth::parse(util::FixedBytes<size> bytes) {
    return {.xrcsrq = util::be24<1>(bytes)};
}

void Xrceth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, 0);
    util::put_be24<1>(out, xrcsrq);
}

}  // namespace wire
