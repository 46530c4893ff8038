#include "emulator/edit.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "wire/header_span.hpp"
#include "wire/packet.hpp"

namespace emulator {
namespace {

std::vector<wire::HeaderSpan> spans_of(std::span<const std::byte> frame) {
    const wire::Packet packet =
        wire::decode(frame, wire::LinkType::Ethernet, frame.size(), wire::IcrcCheck::Skip);
    return wire::header_spans(packet, frame);
}

std::optional<wire::HeaderSpan> find(const std::vector<wire::HeaderSpan>& spans,
                                     std::string_view name) {
    for (const wire::HeaderSpan& span : spans)
        if (wire::name(span.header) == name)
            return span;
    return std::nullopt;
}

// Reads bit by bit: a field has at most 64 bits.
std::uint64_t bits_at(std::span<const std::byte> header, const WritableField& field) {
    std::uint64_t value = 0;
    for (std::size_t bit = field.bit; bit < field.bit + std::size_t{field.width}; ++bit)
        value =
            value << 1U | (std::to_integer<std::uint64_t>(header[bit / 8]) >> (7 - bit % 8) & 1U);
    return value;
}

void put_bits(std::span<std::byte> header, const WritableField& field, std::uint64_t value) {
    for (std::size_t i = 0; i < field.width; ++i) {
        const std::size_t bit = field.bit + i;
        const auto mask = static_cast<std::byte>(0x80U >> bit % 8);
        const bool is_set = (value >> (field.width - 1 - i) & 1U) != 0;
        header[bit / 8] = is_set ? header[bit / 8] | mask : header[bit / 8] & ~mask;
    }
}

std::string write(const WritableField& field, std::uint64_t value, wire::IcrcAfter icrc,
                  std::span<std::byte> frame) {
    const auto header = find(spans_of(frame), field.header);
    if (!header || header->length * 8 < std::size_t{field.bit} + field.width)
        return {};
    const auto bytes = frame.subspan(header->offset, header->length);
    const std::uint64_t old = bits_at(bytes, field);
    put_bits(bytes, field, value);
    wire::reseal(frame, icrc);
    return fmt::format("{}: {:#x} is {:#x}", field.name, old, value);
}

}  // namespace

std::string apply(const Corrupt& corrupt, std::span<std::byte> frame) {
    const auto spans = spans_of(frame);
    const auto bth = find(spans, "bth");
    const auto icrc = find(spans, "icrc");
    if (!bth || !icrc)
        return {};
    const std::size_t covered = icrc->offset - bth->offset;
    const std::size_t byte = corrupt.byte.value_or(covered - 1);
    if (byte >= covered + icrc->length)
        return {};
    std::byte& target = frame[bth->offset + byte];
    const std::byte old = target;
    target = ~target;
    wire::reseal(frame, corrupt.icrc);
    return fmt::format("byte {}: 0x{:02x} is 0x{:02x}", byte, std::to_integer<unsigned>(old),
                       std::to_integer<unsigned>(target));
}

std::string apply(const Set& set, std::span<std::byte> frame) {
    return write(*set.field, set.value, set.icrc, frame);
}

std::string apply(const Mark& /*mark*/, std::span<std::byte> frame) {
    constexpr std::uint64_t congestion_experienced = 3;
    for (const std::string_view name : {"ip.ecn", "ipv6.ecn"}) {
        std::string done =
            write(*find_writable(name), congestion_experienced, wire::IcrcAfter::Left, frame);
        if (!done.empty())
            return done;
    }
    return {};
}

}  // namespace emulator
