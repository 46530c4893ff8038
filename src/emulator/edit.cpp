#include "emulator/edit.hpp"

#include <fmt/format.h>

#include "wire/packet.hpp"

namespace emulator {
namespace {

// Reads bit by bit: a field has at most 64 bits.
std::uint64_t bits_at(util::Bytes header, const wire::Place& place) {
    std::uint64_t value = 0;
    for (std::size_t bit = place.bit; bit < std::size_t{place.bit} + place.width; ++bit)
        value =
            value << 1U | (std::to_integer<std::uint64_t>(header[bit / 8]) >> (7 - bit % 8) & 1U);
    return value;
}

void put_bits(std::span<std::byte> header, const wire::Place& place, std::uint64_t value) {
    for (std::size_t i = 0; i < place.width; ++i) {
        const std::size_t bit = place.bit + i;
        const auto mask = static_cast<std::byte>(0x80U >> bit % 8);
        const bool is_set = (value >> (place.width - 1 - i) & 1U) != 0;
        header[bit / 8] = is_set ? header[bit / 8] | mask : header[bit / 8] & ~mask;
    }
}

// The opcode decides which headers follow the BTH, and so whether the packet has room for an ICRC.
// With an opcode of RD or DC, the next byte tells the two apart. No other byte that an edit changes
// moves a header or the ICRC: none is before the BTH, except in IP headers (DSCP, ECN, TTL). The pad
// count and the destination queue pair only divide the payload, which no edit looks up.
bool decides_headers(const LocatedFrame& frame, std::size_t offset) {
    const std::size_t bth = frame.trail.find(wire::Header::Bth).begin;
    return offset == bth ||
           (offset == bth + wire::Bth::size &&
            wire::is_rd_or_dc_opcode(std::to_integer<std::uint8_t>(frame.bytes[bth])));
}

// `offset`: the first byte that was changed.
void update(LocatedFrame& frame, std::size_t offset, wire::IcrcAfter icrc) {
    if (decides_headers(frame, offset))
        frame.trail = trail_of(frame.bytes);
    wire::reseal(frame.bytes, frame.trail, icrc);
}

std::string write(const filter::Field& field, std::uint64_t value, wire::IcrcAfter icrc,
                  LocatedFrame& frame) {
    const wire::Place& place = field.get.place;
    const wire::Extent header = frame.trail.find(place.header);
    const auto bytes = header.of(frame.bytes);
    if (bytes.size() * 8 < std::size_t{place.bit} + place.width)
        return {};
    const std::uint64_t old = bits_at(bytes, place);
    put_bits(bytes, place, value);
    update(frame, header.begin + place.bit / 8U, icrc);
    return fmt::format("{}: {:#x} → {:#x}", field.name, old, value);
}

}  // namespace

wire::Trail trail_of(util::Bytes frame) {
    return wire::decode(frame, wire::LinkType::Ethernet, frame.size(), wire::IcrcCheck::Skip).trail;
}

std::string apply(const Corrupt& corrupt, LocatedFrame& frame) {
    const wire::Extent bth = frame.trail.find(wire::Header::Bth);
    const wire::Extent icrc = frame.trail.find(wire::Header::Icrc);
    const std::size_t icrc_bytes = icrc.of(frame.bytes).size();
    if (icrc_bytes == 0)
        return {};
    const std::size_t covered = icrc.begin - bth.begin;
    const std::size_t byte = corrupt.byte.value_or(covered - 1);
    if (byte >= covered + icrc_bytes)
        return {};
    std::byte& target = frame.bytes[bth.begin + byte];
    const std::byte old = target;
    target = ~target;
    update(frame, bth.begin + byte, corrupt.icrc);
    return fmt::format("byte {}: 0x{:02x} → 0x{:02x}", byte, std::to_integer<unsigned>(old),
                       std::to_integer<unsigned>(target));
}

std::string apply(const Set& set, LocatedFrame& frame) {
    return write(*set.field, set.value, set.icrc, frame);
}

std::string apply(const Mark& /*mark*/, LocatedFrame& frame) {
    constexpr std::uint64_t congestion_experienced = 3;
    static const filter::Field& ipv4 = *find_writable("ip.ecn");
    static const filter::Field& ipv6 = *find_writable("ipv6.ecn");
    return write(frame.trail.has(wire::Header::Ipv4) ? ipv4 : ipv6, congestion_experienced,
                 wire::IcrcAfter::Left, frame);
}

}  // namespace emulator
