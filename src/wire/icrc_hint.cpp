#include "wire/icrc_hint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <libdeflate.h>
#include <string_view>

#include <fmt/format.h>

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

// x^(2^i)
constexpr auto squares = [] {
    std::array<Polynomial, 32> all{};
    Polynomial square = x_to_1;
    for (Polynomial& one : all) {
        one = square;
        square = product(square, square);
    }
    return all;
}();

constexpr Polynomial power_of_x(std::uint32_t exponent) {
    Polynomial result = x_to_0;
    for (std::size_t i = 0; exponent != 0; exponent >>= 1, ++i)
        if ((exponent & 1U) != 0)
            result = product(result, squares[i]);
    return result;
}

// The smallest positive n for which x^n is 1.
constexpr std::uint32_t order_of_x = 0xffffffff;
static_assert(power_of_x(order_of_x) == x_to_0);

// Division by the power of x that `count` bytes make.
constexpr Polynomial without(Polynomial a, std::size_t count) {
    return product(a, power_of_x(order_of_x - static_cast<std::uint32_t>(count * 8)));
}

std::uint32_t extended(std::uint32_t crc, util::Bytes bytes) {
    return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

constexpr std::size_t ends_after_ip = Udp::size + Bth::size;
constexpr std::size_t longest_headers = Ipv6::size + ends_after_ip;
constexpr std::array<std::byte, longest_headers> zeros{};

// The CRC is linear: the difference of two CRCs is the CRC of the messages' difference, without the
// initial ones. Each bit after the difference multiplies it by x.
class WrongIcrc {
  public:
    explicit WrongIcrc(const Packet& packet)
        : packet_(packet),
          value_(__builtin_bswap32(*packet.icrc->value)),
          computed_(__builtin_bswap32(*packet.icrc->computed)),
          headers_(packet.ipv4 ? Ipv4::size + ends_after_ip : longest_headers),
          difference_(without(value_ ^ computed_, packet.udp->length - ends_after_ip - icrc_size)) {
    }

    /// An ICRC is checked only if all bytes before it were captured.
    static bool is(const Packet& packet) {
        constexpr std::size_t least = ends_after_ip + icrc_size;
        return packet.icrc && packet.icrc->status == IcrcStatus::Bad && packet.icrc->value &&
               packet.icrc->computed && (packet.ipv4 || packet.ipv6) && packet.udp &&
               packet.udp->length >= least && !packet.malformed;
    }

    const Packet& packet() const { return packet_; }
    std::uint32_t value() const { return value_; }
    std::uint32_t computed() const { return computed_; }
    std::size_t ip_size() const { return headers_ - ends_after_ip; }

    /// The CRC's difference if the headers up to the BTH differ by `bytes` at `at`.
    Polynomial of_change(std::size_t at, util::Bytes bytes) const {
        std::array<std::byte, longest_headers> change{};
        std::ranges::copy(bytes, change.begin() + static_cast<std::ptrdiff_t>(at));
        return extended(0, util::Bytes(change).first(headers_)) ^
               extended(0, util::Bytes(zeros).first(headers_));
    }
    /// The difference of the packet's CRCs if nothing after the BTH differs.
    Polynomial difference() const { return difference_; }

    /// Payload, padding and ICRC.
    util::Bytes end() const {
        return {packet_.payload.data(), packet_.payload_length + packet_.bth->padcnt + icrc_size};
    }

  private:
    const Packet& packet_;
    std::uint32_t value_;
    std::uint32_t computed_;
    std::size_t headers_;
    Polynomial difference_;
};

using Found = std::optional<IcrcHint>;
using Known = std::span<const IpAddress>;

// Senders that forget the padding, or add it after the ICRC.
Found without_end(const WrongIcrc& wrong, Known /*known*/) {
    const util::Bytes end = wrong.end();
    for (std::uint8_t count = 1; count < icrc_size && count + icrc_size <= end.size(); ++count) {
        const util::Bytes nothing = util::Bytes(zeros).first(count);
        const util::Bytes bytes = end.subspan(end.size() - icrc_size - count);
        const std::uint32_t with_zeros =
            wrong.computed() ^ extended(0, bytes.first(count)) ^ extended(0, nothing);
        const std::uint32_t early = __builtin_bswap32(util::be32<0>(bytes.first<icrc_size>()));
        if (early == with_zeros || extended(early, nothing) == with_zeros)
            return IcrcHint{.kind = IcrcHint::Kind::Early, .count = count};
        if (extended(wrong.value(), bytes.first(count)) == wrong.computed())
            return IcrcHint{.kind = IcrcHint::Kind::WithoutEnd, .count = count};
    }
    return std::nullopt;
}

constexpr std::size_t variant_fields = 5;
constexpr std::array<std::string_view, variant_fields> ipv4_fields{
    "type of service", "TTL", "header checksum", "UDP checksum", "FECN and BECN"};
constexpr std::array<std::string_view, variant_fields> ipv6_fields{
    "traffic class", "flow label", "hop limit", "UDP checksum", "FECN and BECN"};
// Marks the fields of a hint as those of IPv6.
constexpr std::uint8_t of_ipv6 = 0x80;

// The changes from ones to the values in the packet, in the order of the names.
std::array<Polynomial, variant_fields> unmasked_changes(const WrongIcrc& wrong) {
    const Packet& packet = wrong.packet();
    const auto change = [&](std::size_t at, std::uint32_t difference) {
        const std::array bytes{std::byte(difference >> 24), std::byte(difference >> 16),
                               std::byte(difference >> 8), std::byte(difference)};
        return wrong.of_change(at, bytes);
    };
    constexpr unsigned high_byte = 24;
    constexpr unsigned high_half = 16;
    const std::size_t udp = wrong.ip_size();
    const auto marks = static_cast<std::uint8_t>((packet.bth->fecn ? 0x80U : 0U) |
                                                 (packet.bth->becn ? 0x40U : 0U));
    const Polynomial udp_checksum = change(
        udp + 6, std::uint32_t{static_cast<std::uint16_t>(~packet.udp->checksum)} << high_half);
    const Polynomial bth =
        change(udp + Udp::size + 4, std::uint32_t{static_cast<std::uint8_t>(~marks)} << high_byte);
    const auto byte = [&](std::size_t at, std::uint8_t value) {
        return change(at, std::uint32_t{static_cast<std::uint8_t>(~value)} << high_byte);
    };
    if (packet.ipv4)
        return {byte(1, packet.ipv4->dsfield), byte(8, packet.ipv4->ttl),
                change(10, std::uint32_t{static_cast<std::uint16_t>(~packet.ipv4->checksum)}
                               << high_half),
                udp_checksum, bth};
    return {change(0, (~std::uint32_t{packet.ipv6->tclass} & 0xffU) << 20),
            change(0, ~packet.ipv6->flow_label & 0xfffffU), byte(7, packet.ipv6->hop_limit),
            udp_checksum, bth};
}

Found unmasked(const WrongIcrc& wrong, Known /*known*/) {
    const auto changes = unmasked_changes(wrong);
    // In the order of a Gray code: each set of fields differs from the last one by one field.
    Polynomial sum = 0;
    for (unsigned i = 1; i < 1U << variant_fields; ++i) {
        sum ^= changes[static_cast<std::size_t>(std::countr_zero(i))];
        if (sum == wrong.difference()) {
            const auto fields = static_cast<std::uint8_t>(i ^ i >> 1U);
            return IcrcHint{
                .kind = IcrcHint::Kind::Unmasked,
                .fields = static_cast<std::uint8_t>(fields | (wrong.packet().ipv6 ? of_ipv6 : 0U))};
        }
    }
    return std::nullopt;
}

template <typename Address>
bool is_right_with(const WrongIcrc& wrong, std::size_t at, const Address& now,
                   const Address& other) {
    std::array<std::byte, Address::size> change{};
    for (std::size_t i = 0; i < Address::size; ++i)
        change[i] = std::byte(now.bytes[i] ^ other.bytes[i]);
    return wrong.of_change(at, change) == wrong.difference();
}

Found rewritten_address(const WrongIcrc& wrong, Known known) {
    constexpr std::size_t ipv4_source = place_of<&Ipv4::src>.bit / 8;
    constexpr std::size_t ipv6_source = place_of<&Ipv6::src>.bit / 8;
    const auto find = [&](const auto& ip, std::size_t source) -> Found {
        using Address = std::remove_cvref_t<decltype(ip.src)>;
        for (const IpAddress& one : known)
            if (const auto* address = std::get_if<Address>(&one)) {
                if (is_right_with(wrong, source, ip.src, *address))
                    return IcrcHint{.kind = IcrcHint::Kind::SourceAddress, .address = one};
                if (is_right_with(wrong, source + Address::size, ip.dst, *address))
                    return IcrcHint{.kind = IcrcHint::Kind::DestinationAddress, .address = one};
            }
        return std::nullopt;
    };
    const Packet& packet = wrong.packet();
    return packet.ipv4 ? find(*packet.ipv4, ipv4_source) : find(*packet.ipv6, ipv6_source);
}

// The division by the power of x from the port on gives the bytes that differ, if only the port
// does.
Found rewritten_port(const WrongIcrc& wrong, Known /*known*/) {
    const Polynomial bytes = without(wrong.difference(), ends_after_ip);
    if (bytes >> 16 != 0)
        return std::nullopt;
    const auto change = __builtin_bswap16(static_cast<std::uint16_t>(bytes));
    return IcrcHint{.kind = IcrcHint::Kind::SourcePort,
                    .port = static_cast<std::uint16_t>(wrong.packet().udp->src_port ^ change)};
}

Found headers_twice(const WrongIcrc& wrong, Known /*known*/) {
    const Packet& packet = wrong.packet();
    if (packet.opcode == nullptr || packet.opcode->operation != Operation::Flush)
        return std::nullopt;
    const std::size_t size = packet.udp->length - Udp::size - icrc_size;
    const util::Bytes headers{packet.payload.data() - size, size};
    if (icrc_with_headers_twice(*packet.icrc->computed, headers) != *packet.icrc->value)
        return std::nullopt;
    return IcrcHint{.kind = IcrcHint::Kind::HeadersTwice};
}

// The least probable by chance are first.
constexpr auto hypotheses = std::to_array<Found (*)(const WrongIcrc&, Known)>(
    {headers_twice, without_end, unmasked, rewritten_address, rewritten_port});

std::string bytes_text(std::uint8_t count) {
    return count == 1 ? "one byte" : fmt::format("{} bytes", count);
}

std::string fields_text(std::uint8_t fields) {
    const auto& fields_of = (fields & of_ipv6) != 0 ? ipv6_fields : ipv4_fields;
    std::string text;
    for (std::size_t i = 0; i < variant_fields; ++i)
        if ((fields >> i & 1U) != 0)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", fields_of[i]);
    return text;
}

}  // namespace

std::optional<IcrcHint> icrc_hint(const Packet& packet, std::span<const IpAddress> known) {
    if (!WrongIcrc::is(packet))
        return std::nullopt;
    const WrongIcrc wrong(packet);
    for (const auto hypothesis : hypotheses)
        if (const Found found = hypothesis(wrong, known))
            return found;
    return std::nullopt;
}

std::uint32_t icrc_with_headers_twice(std::uint32_t icrc, util::Bytes headers) {
    return __builtin_bswap32(extended(__builtin_bswap32(icrc), headers));
}

bool is_damaged(const Packet& packet) {
    if (packet.malformed)
        return true;
    return packet.icrc && packet.icrc->status == IcrcStatus::Bad &&
           (packet.icrc->hint == nullptr ||
            packet.icrc->hint->kind != IcrcHint::Kind::HeadersTwice);
}

std::string IcrcHint::text() const {
    switch (kind) {
        case Kind::Early:
            return fmt::format("right {} earlier, before the padding", bytes_text(count));
        case Kind::WithoutEnd:
            return fmt::format("right without the {} before it", bytes_text(count));
        case Kind::Unmasked:
            return fmt::format("right with unmasked {}", fields_text(fields));
        case Kind::SourceAddress:
            return "right with source address " + wire::text(address);
        case Kind::DestinationAddress:
            return "right with destination address " + wire::text(address);
        case Kind::HeadersTwice:
            return "right with its headers counted twice";
        case Kind::SourcePort:
            break;
    }
    return fmt::format("right with UDP source port {}", port);
}

std::string_view IcrcHint::cause() const {
    switch (kind) {
        case Kind::Early:
            return "in another place: the sender puts it before the padding";
        case Kind::WithoutEnd:
            return "without the last bytes: the sender computes it before it adds the padding";
        case Kind::Unmasked:
            return "with unmasked fields: the sender computes it over fields that count as ones";
        case Kind::SourceAddress:
            return "with another source address: a device on the path may have rewritten it (NAT)";
        case Kind::DestinationAddress:
            return "with another destination address: a device on the path may have rewritten it "
                   "(NAT)";
        case Kind::HeadersTwice:
            return "with its headers counted twice, as Soft-RoCE counts those of a FLUSH: another "
                   "Soft-RoCE takes it, an adapter drops it";
        case Kind::SourcePort:
            break;
    }
    return "with another UDP source port: a mirror or capture driver may have changed it";
}

}  // namespace wire
