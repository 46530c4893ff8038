#include "wire/icrc_hint.hpp"

#include "wire/bth.hpp"

namespace wire {
namespace {

// Polynomials over GF(2) modulo that of CRC-32, with x^0 in the highest bit: a CRC register.
using Polynomial = std::uint32_t;
constexpr Polynomial modulus = 0xedb88320;
constexpr Polynomial x_to_0 = 0x80000000;
constexpr Polynomial x_to_1 = 0x40000000;

constexpr Polynomial product(Polynomial a, Polynomial b) {
    Polynomial sum = 0;
    for (Polynomial bit = x_to_0; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            sum ^= b;
        b = (b & 1U) != 0 ? b >> 1 ^ modulus : b >> 1;
    }
    return sum;
}

constexpr Polynomial power_of_x(std::uint32_t exponent) {
    Polynomial result = x_to_0;
    for (Polynomial square = x_to_1; exponent != 0; exponent >>= 1) {
        if ((exponent & 1U) != 0)
            result = product(result, square);
        square = product(square, square);
    }
    return result;
}

// The smallest positive n for which x^n is 1.
constexpr std::uint32_t order_of_x = 0xffffffff;
static_assert(power_of_x(order_of_x) == x_to_0);

}  // namespace

// The CRC is linear: the difference of two CRCs is the CRC of the messages' difference, without the
// initial ones. Each bit from the first difference on multiplies it by x. Dividing by that power of
// x gives the bytes that differ, if only the first two do.
std::optional<std::uint16_t> right_with_srcport(const Packet& packet) {
    constexpr std::size_t least = Udp::size + Bth::size + icrc_size;
    if (!packet.icrc || packet.icrc->status != IcrcStatus::Bad || !packet.icrc->value ||
        !packet.icrc->computed || !packet.udp || packet.udp->length < least || packet.malformed)
        return std::nullopt;
    const Polynomial difference = __builtin_bswap32(*packet.icrc->value ^ *packet.icrc->computed);
    const auto bits = static_cast<std::uint32_t>((packet.udp->length - icrc_size) * 8);
    const Polynomial bytes = product(difference, power_of_x(order_of_x - bits));
    if (bytes >> 16 != 0)
        return std::nullopt;
    const auto change = __builtin_bswap16(static_cast<std::uint16_t>(bytes));
    return static_cast<std::uint16_t>(packet.udp->src_port ^ change);
}

}  // namespace wire
