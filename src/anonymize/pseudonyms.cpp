#include "anonymize/pseudonyms.hpp"

#include <algorithm>
#include <array>

#include "util/error.hpp"
#include "wire/mad.hpp"

namespace anonymize {
namespace {

using wire::Ipv4Address;
using wire::Ipv6Address;
using wire::MacAddress;

// The number in the last N bytes of `address`, big-endian.
template <std::size_t N, typename Address>
constexpr Address numbered(Address address, std::uint64_t number) {
    for (std::size_t i = 0; i < N; ++i)
        address.bytes[Address::size - 1 - i] = static_cast<std::uint8_t>(number >> 8 * i);
    return address;
}

bool starts_with(const auto& address, std::initializer_list<std::uint8_t> prefix) {
    return std::ranges::equal(prefix, std::span(address.bytes).first(prefix.size()));
}

bool stays(const MacAddress& address) {
    constexpr MacAddress broadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    return address == MacAddress() || address == broadcast ||
           starts_with(address, {0x01, 0x80, 0xc2, 0, 0});
}
bool is_group(const MacAddress& address) {
    return (address.bytes[0] & 1U) != 0;
}

bool stays(const Ipv4Address& address) {
    constexpr Ipv4Address broadcast{{255, 255, 255, 255}};
    return address == Ipv4Address() || address == broadcast || starts_with(address, {127}) ||
           starts_with(address, {224, 0, 0});
}
bool is_group(const Ipv4Address& address) {
    return address.bytes[0] >> 4 == 0xe;
}

bool is_group(const Ipv6Address& address) {
    return address.bytes[0] == 0xff;
}
// Groups with a number of 16 bits, such as ff02::1, all nodes.
bool stays(const Ipv6Address& address) {
    constexpr auto loopback = numbered<1>(Ipv6Address(), 1);
    Ipv6Address group = numbered<2>(address, 0);
    group.bytes[0] = group.bytes[1] = 0;
    return address == Ipv6Address() || address == loopback ||
           (is_group(address) && group == Ipv6Address());
}
bool is_link_local(const Ipv6Address& address) {
    return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0U) == 0x80;
}
bool is_mapped(const Ipv6Address& address) {
    return starts_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff});
}

constexpr std::size_t mapped_at = Ipv6Address::size - Ipv4Address::size;

// RFC 4291, appendix A. The bit that marks a local address is inverted.
constexpr std::uint8_t local_bit = 2;

bool is_eui64(util::FixedBytes<8> id) {
    return util::be16<3>(id) == 0xfffe;
}
MacAddress mac_of(util::FixedBytes<8> id) {
    MacAddress mac = MacAddress::at<0>(id);
    std::ranges::transform(id.last<3>(), mac.bytes.begin() + 3,
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    mac.bytes[0] ^= local_bit;
    return mac;
}
std::uint64_t eui64_of(const MacAddress& mac) {
    std::array<std::byte, 8> id{};
    mac.put<0>(std::span(id));
    std::ranges::copy(std::as_bytes(std::span(mac.bytes)).last<3>(), id.begin() + 5);
    util::put_be16<3>(std::span(id), 0xfffe);
    id[0] ^= std::byte{local_bit};
    return util::be64<0>(util::FixedBytes<8>(id));
}

}  // namespace

Pseudonyms::Pseudonyms() {
    for (std::uint64_t& word : key_)
        word = std::uint64_t{random_()} << 32 | random_();
}

MacAddress Pseudonyms::of(const MacAddress& address) {
    if (stays(address))
        return address;
    const auto [known, is_new] = macs_.try_emplace(address);
    if (is_new)
        known->second = numbered<5>(
            MacAddress{{static_cast<std::uint8_t>(is_group(address) ? 3 : 2)}}, macs_.size());
    return known->second;
}

Ipv4Address Pseudonyms::next_unicast() {
    constexpr std::uint32_t documentation = 0xc0000200;  // 192.0.2.0/24, RFC 5737
    constexpr std::uint32_t documented = 254;
    constexpr std::uint32_t benchmarks = 0xc6120000;  // 198.18.0.0/15, RFC 2544
    constexpr std::uint32_t most = documented + (1U << 17) - 2;
    if (++hosts_ > most)
        throw util::Error("the capture has more than 131,324 IPv4 addresses.");
    return numbered<4>(Ipv4Address(), hosts_ <= documented ? documentation + hosts_
                                                           : benchmarks + hosts_ - documented);
}

Ipv4Address Pseudonyms::of(const Ipv4Address& address) {
    if (stays(address))
        return address;
    const auto [known, is_new] = ipv4_.try_emplace(address);
    if (is_new)
        known->second = is_group(address) ? numbered<3>(Ipv4Address{{233}}, 0xfc0000 + ipv4_.size())
                        : starts_with(address, {169, 254})
                            ? numbered<2>(Ipv4Address{{169, 254}}, 0x0100 + ipv4_.size())
                            : next_unicast();
    return known->second;
}

Ipv6Address Pseudonyms::of(const Ipv6Address& address) {
    if (stays(address))
        return address;
    const util::FixedBytes<Ipv6Address::size> bytes = std::as_bytes(std::span(address.bytes));
    if (is_mapped(address)) {
        Ipv6Address mapped = address;
        of(Ipv4Address::at<mapped_at>(bytes))
            .put<mapped_at>(std::as_writable_bytes(std::span(mapped.bytes)));
        return mapped;
    }
    const auto [known, is_new] = ipv6_.try_emplace(address);
    if (!is_new)
        return known->second;
    const std::uint64_t number = ipv6_.size();
    if (is_group(address))
        known->second = numbered<4>(
            Ipv6Address{{0xff, address.bytes[1], 0, 0x20, 0x20, 0x01, 0x0d, 0xb8}}, number);
    else if (!is_link_local(address))
        known->second = numbered<8>(Ipv6Address{{0x20, 0x01, 0x0d, 0xb8}}, number);
    else if (is_eui64(bytes.last<8>()))
        known->second =
            numbered<8>(Ipv6Address{{0xfe, 0x80}}, eui64_of(of(mac_of(bytes.last<8>()))));
    else
        known->second = numbered<8>(Ipv6Address{{0xfe, 0x80}}, number);
    return known->second;
}

std::uint64_t Pseudonyms::guid(std::uint64_t guid) {
    constexpr std::uint64_t first = 0x0200'0000'0000'0000;
    std::array<std::byte, 8> bytes{};
    util::put_be64<0>(std::span(bytes), guid);
    if (guid == 0)
        return 0;
    if (is_eui64(bytes))
        return eui64_of(of(mac_of(bytes)));
    return guids_.try_emplace(guid, first + guids_.size() + 1).first->second;
}

std::uint32_t Pseudonyms::Numbers::of(std::uint32_t original, std::uint32_t fixed_bits,
                                      std::random_device& random) {
    const auto [known, is_new] = given_.try_emplace(original);
    while (is_new && (known->second == 0 || !used_.insert(known->second).second))
        known->second =
            (static_cast<std::uint32_t>(random()) & ~fixed_bits) | (original & fixed_bits);
    return known->second;
}

std::uint32_t Pseudonyms::rkey(std::uint32_t rkey) {
    return rkey == 0 ? 0 : rkeys_.of(rkey, 0, random_);
}

std::uint64_t Pseudonyms::va(std::uint32_t rkey, std::uint64_t va) {
    constexpr std::uint64_t page_bits = 0xfff;
    constexpr std::uint64_t lowest = 1ULL << 44;  // 44 and 47 bits: addresses of programs
    constexpr std::uint64_t range = (1ULL << 46) - 1;
    constexpr std::uint64_t four_gib = 1ULL << 32;
    if (va < four_gib)
        return va;
    const auto [known, is_new] = shifts_.try_emplace(rkey, 0);
    if (is_new) {
        const std::uint64_t page = std::uint64_t{random_()} << 32 | random_();
        known->second = lowest + (page & range & ~page_bits) - (va & ~page_bits);
    }
    return va + known->second;
}

std::uint32_t Pseudonyms::q_key(std::uint32_t q_key) {
    constexpr std::uint32_t rdma_cm = 0x01234567;  // RDMA_UDP_QKEY, Linux include/rdma/rdma_cm.h
    constexpr std::uint32_t controlled = 0x8000'0000;  // IBTA volume 1, 10.2.5
    if (q_key == 0 || q_key == wire::gsi_q_key || q_key == rdma_cm)
        return q_key;
    return q_keys_.of(q_key, controlled, random_);
}

std::uint64_t Pseudonyms::hash(std::uint64_t context, util::Bytes bytes) const {
    util::KeyedHash hash(key_);
    hash.add(context);
    return hash.finish(bytes);
}

void Pseudonyms::stand_in(std::span<std::byte> data, std::uint64_t context) const {
    std::array<std::byte, 8> start{};
    util::put_be64<0>(std::span(start), hash(context, data));
    std::ranges::fill(data, std::byte{});
    std::ranges::copy(util::Bytes(start).first(std::min(start.size(), data.size())), data.begin());
}

}  // namespace anonymize
