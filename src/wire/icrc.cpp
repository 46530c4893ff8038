#include "wire/icrc.hpp"

#include <algorithm>
#include <array>
#include <libdeflate.h>
#include <span>

#include "wire/bth.hpp"
#include "wire/ip.hpp"

namespace wire {
namespace {

constexpr std::size_t lrh_size = 8;
constexpr std::byte ones{0xff};

/// The copied headers, with their variant fields set to ones.
template <std::size_t N>
struct Masked {
    std::array<std::byte, lrh_size + N> bytes;

    explicit Masked(util::FixedBytes<N> headers) {
        std::fill_n(bytes.begin(), lrh_size, ones);
        std::ranges::copy(headers, bytes.begin() + lrh_size);
    }
    template <std::size_t... Offset>
    void mask() {
        static_assert(((Offset < N) && ...));
        (..., (bytes[lrh_size + Offset] = ones));
    }
};

std::uint32_t crc(std::uint32_t start, util::Bytes bytes) {
    return libdeflate_crc32(start, bytes.data(), bytes.size());
}

template <std::size_t N, typename Mask>
std::optional<std::uint32_t> masked_crc(util::Bytes packet, Mask mask) {
    if (packet.size() < N)
        return std::nullopt;
    Masked<N> headers(packet.first<N>());
    mask(headers);
    const std::uint32_t value = crc(crc(0, headers.bytes), packet.subspan(N));
    // The CRC is sent lowest byte first; the result is those bytes read highest byte first.
    return __builtin_bswap32(value);
}

/// Traffic class and flow label share their first and second byte with the version (4 bits) and
/// with each other.
template <std::size_t N>
void mask_ipv6(Masked<N>& headers) {
    headers.bytes[lrh_size] |= std::byte{0x0f};
    headers.template mask<1, 2, 3, 7>();
}

std::optional<std::uint32_t> local_icrc(util::Bytes packet) {
    return masked_crc<Bth::size>(
        packet.subspan(std::min(lrh_size, packet.size())), [&](auto& headers) {
            std::ranges::copy(packet.first(lrh_size), headers.bytes.begin());
            headers.bytes[0] |= std::byte{0xf0};  // virtual lane
            headers.template mask<4>();
        });
}

}  // namespace

std::optional<std::uint32_t> compute_icrc(IcrcLayout layout, util::Bytes packet) {
    constexpr std::size_t v4_bth = Ipv4::size + Udp::size;
    constexpr std::size_t v6_bth = Ipv6::size + Udp::size;
    switch (layout) {
        case IcrcLayout::Ipv4Udp:
            return masked_crc<v4_bth + Bth::size>(packet, [](auto& headers) {
                headers.template mask<1, 8, 10, 11>();  // type of service, TTL, checksum
                headers.template mask<Ipv4::size + 6, Ipv4::size + 7, v4_bth + 4>();
            });
        case IcrcLayout::Ipv6Udp:
            return masked_crc<v6_bth + Bth::size>(packet, [](auto& headers) {
                mask_ipv6(headers);
                headers.template mask<Ipv6::size + 6, Ipv6::size + 7, v6_bth + 4>();
            });
        case IcrcLayout::Grh:
            return masked_crc<Grh::size + Bth::size>(packet, [](auto& headers) {
                mask_ipv6(headers);
                headers.template mask<Grh::size + 4>();
            });
        case IcrcLayout::Lrh:
            return local_icrc(packet);
    }
    return std::nullopt;
}

std::string_view name(IcrcStatus status) {
    constexpr std::array<std::string_view, 3> names{"good", "bad", "unchecked"};
    return names[static_cast<std::size_t>(status)];
}

}  // namespace wire
