#include "wire/checksum.hpp"

namespace wire {

std::uint64_t ones_sum(util::Bytes bytes) {
    std::uint64_t sum = 0;
    util::Cursor cursor(bytes);
    while (const auto word = cursor.take<2>())
        sum += util::be16<0>(*word);
    if (const auto last = cursor.take<1>())
        sum += std::uint64_t{util::be8<0>(*last)} << 8;
    return sum;
}

std::uint16_t internet_checksum(std::uint64_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace wire
