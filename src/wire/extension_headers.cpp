#include "wire/extension_headers.hpp"

#include <algorithm>

namespace wire {

// DETH, RDETH and XRCETH have a reserved byte before the 24-bit number; senders write 0.

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

Dceth Dceth::parse(util::FixedBytes<size> bytes) {
    Dceth header;
    std::ranges::copy(bytes, header.bytes.begin());
    return header;
}

void Dceth::write(std::span<std::byte, size> out) const {
    std::ranges::copy(bytes, out.begin());
}

Xrceth Xrceth::parse(util::FixedBytes<size> bytes) {
    return {.xrcsrq = util::be24<1>(bytes)};
}

void Xrceth::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, 0);
    util::put_be24<1>(out, xrcsrq);
}

std::string_view Feth::sel_name() const {
    return sel == 0 ? "memory range" : sel == 1 ? "whole memory region" : "reserved";
}

Feth Feth::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t fields = util::be8<3>(bytes);
    return {
        .plt = static_cast<std::uint8_t>(fields & 0xfU),
        .sel = static_cast<std::uint8_t>(fields >> 4 & 3U),
    };
}

void Feth::write(std::span<std::byte, size> out) const {
    util::put_be24<0>(out, 0);
    util::put_be8<3>(out, static_cast<std::uint8_t>((sel & 3U) << 4 | (plt & 0xfU)));
}

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

AtomicEth AtomicEth::parse(util::FixedBytes<size> bytes) {
    return {
        .va = util::be64<0>(bytes),
        .rkey = util::be32<8>(bytes),
        .swapdt = util::be64<12>(bytes),
        .cmpdt = util::be64<20>(bytes),
    };
}

void AtomicEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, va);
    util::put_be32<8>(out, rkey);
    util::put_be64<12>(out, swapdt);
    util::put_be64<20>(out, cmpdt);
}

AtomicAckEth AtomicAckEth::parse(util::FixedBytes<size> bytes) {
    return {.origremdt = util::be64<0>(bytes)};
}

void AtomicAckEth::write(std::span<std::byte, size> out) const {
    util::put_be64<0>(out, origremdt);
}

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
