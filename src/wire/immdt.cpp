#include "wire/immdt.hpp"

namespace wire {

ImmDt ImmDt::parse(util::FixedBytes<size> bytes) {
    return {.value = util::be32<0>(bytes)};
}

void ImmDt::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, value);
}

Ieth Ieth::parse(util::FixedBytes<size> bytes) {
    return {.rkey = util::be32<0>(bytes)};
}

void Ieth::write(std::span<std::byte, size> out) const {
    util::put_be32<0>(out, rkey);
}

}  // namespace wire
