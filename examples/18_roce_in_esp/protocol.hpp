// Lesson 18, both sides: the messages over TLS in addition to the endpoints. Numbers are in network
// byte order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <openssl/rand.h>

#include "examples/common/message.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson18 {

inline constexpr std::uint32_t magic = common::magic_of_lesson(18);

/// The identifier and key of one direction: a security association (RFC 4301). The receiving side
/// chooses it.
struct Sa {
    static constexpr std::size_t key_size = 20;  // 16 bytes for AES-128-GCM, 4 of salt (RFC 4106)
    static constexpr std::size_t size = 12 + key_size;

    std::uint32_t spi = 0;  // security parameters index, in every ESP packet; 0 to 255 are reserved
    std::array<std::byte, key_size> key{};

    static Sa random() {
        Sa sa;
        std::array<unsigned char, 4> spi{};
        if (RAND_bytes(reinterpret_cast<unsigned char*>(sa.key.data()), key_size) != 1 ||
            RAND_bytes(spi.data(), spi.size()) != 1)
            throw util::Error(
                "OpenSSL's random number generator has no entropy: no key was generated.");
        constexpr std::uint32_t not_reserved = 0x100;
        sa.spi = util::be32<0>(std::as_bytes(std::span(spi)).first<4>()) | not_reserved;
        return sa;
    }
    std::array<std::byte, size> serialize() const {
        auto out = common::begin_message<size>(magic);
        util::put_be32<8>(std::span<std::byte, size>(out), spi);
        std::ranges::copy(key, out.begin() + 12);
        return out;
    }
    static Sa parse(util::FixedBytes<size> in) {
        common::check_message(in, magic);
        Sa sa{.spi = util::be32<8>(in), .key = {}};
        std::ranges::copy(in.last<key_size>(), sa.key.begin());
        return sa;
    }
};

/// Why a kernel drops packets that do not match its IPsec policies and states: counters of
/// /proc/net/xfrm_stat (Documentation/networking/xfrm_proc.rst in the kernel's sources).
inline constexpr std::array<std::string_view, 4> reasons{
    "XfrmInTmplMismatch", "XfrmInStateSeqError", "XfrmInStateProtoError", "XfrmInNoStates"};

/// The effect of a forged packet on the server.
struct Report {
    static constexpr std::size_t shown = 24;
    static constexpr std::size_t size = 8 + shown + 4 * reasons.size();

    std::array<std::byte, shown> memory{};               // the first bytes
    std::array<std::uint32_t, reasons.size()> counts{};  // of `reasons`, since boot

    std::array<std::byte, size> serialize() const {
        auto out = common::begin_message<size>(magic);
        std::ranges::copy(memory, out.begin() + 8);
        const std::span<std::byte, size> bytes(out);
        util::put_be32<32>(bytes, counts[0]);
        util::put_be32<36>(bytes, counts[1]);
        util::put_be32<40>(bytes, counts[2]);
        util::put_be32<44>(bytes, counts[3]);
        return out;
    }
    static Report parse(util::FixedBytes<size> in) {
        common::check_message(in, magic);
        Report report;
        std::ranges::copy(in.subspan<8, shown>(), report.memory.begin());
        report.counts = {util::be32<32>(in), util::be32<36>(in), util::be32<40>(in),
                         util::be32<44>(in)};
        return report;
    }
};

}  // namespace lesson18
