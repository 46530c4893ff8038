// Packets of a native InfiniBand link: the Local Route Header before the network header, and the
// Variant CRC after the ICRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "util/cursor.hpp"
#include "wire/icrc.hpp"
#include "wire/layout.hpp"

namespace wire {

/// Local Route Header (IBTA volume 1, 7.7). Names as in Wireshark's infiniband.lrh.*.
struct Lrh {
    static constexpr std::size_t size = 8;

    std::uint8_t vl = 0;       ///< virtual lane; 15 carries subnet management
    std::uint8_t lver = 0;     ///< link version, always 0 at present
    std::uint8_t sl = 0;       ///< service level
    std::uint8_t lnh = 0;      ///< link next header, see link_next_header
    std::uint16_t dlid = 0;    ///< destination LID
    std::uint16_t pktlen = 0;  ///< words of four bytes, from this header to the ICRC, inclusive
    std::uint16_t slid = 0;    ///< source LID

    /// Bytes from this header to the ICRC, inclusive.
    std::size_t packet_length() const { return std::size_t{pktlen} * 4; }

    using Fields = Layout<Header::Lrh, At<&Lrh::vl, 0, 4>, At<&Lrh::lver, 4, 4>, At<&Lrh::sl, 8, 4>,
                          At<&Lrh::lnh, 14, 2>, At<&Lrh::dlid, 16, 16>, At<&Lrh::pktlen, 37, 11>,
                          At<&Lrh::slid, 48, 16>>;
    friend bool operator==(const Lrh&, const Lrh&) = default;
};

/// Values of Lrh::lnh.
namespace link_next_header {
inline constexpr std::uint8_t raw = 0;     ///< a raw header with an EtherType
inline constexpr std::uint8_t ipv6 = 1;    ///< a raw IPv6 packet
inline constexpr std::uint8_t local = 2;   ///< a BTH
inline constexpr std::uint8_t global = 3;  ///< a GRH
}  // namespace link_next_header

/// Raw header: what follows it is not an InfiniBand transport (IBTA volume 1, 5.3).
struct Rwh {
    static constexpr std::size_t size = 4;

    std::uint16_t etype = 0;  ///< EtherType

    using Fields = Layout<Header::Rwh, At<&Rwh::etype, 16, 16>>;
    friend bool operator==(const Rwh&, const Rwh&) = default;
};

/// "LID 5", the address of a port in its subnet.
std::string lid_text(std::uint16_t lid);
/// Writes the same text to `at`, which needs room for longest_address characters. Returns the end.
char* put_lid(char* at, std::uint16_t lid);

inline constexpr std::size_t vcrc_size = 2;

/// Variant CRC: a CRC-16 over the whole packet, which each link computes again.
struct Vcrc {
    std::uint16_t value = 0;                ///< the wire bytes as a big-endian number
    std::optional<std::uint16_t> computed;  ///< the correct value; nullopt if unchecked

    IcrcStatus status() const;
    friend bool operator==(const Vcrc&, const Vcrc&) = default;
};

/// `packet`: from the LRH to the last byte before the VCRC (IBTA volume 1, 7.8.2). Returns the two
/// wire bytes as a big-endian number, as Wireshark shows them.
std::uint16_t compute_vcrc(util::Bytes packet);

}  // namespace wire
