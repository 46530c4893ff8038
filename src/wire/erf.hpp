// Extensible Record Format: the header that capture cards of Endace and Mellanox's ibdump put
// before each frame (https://www.tcpdump.org/linktypes.html, LINKTYPE_ERF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"
#include "wire/layout.hpp"

namespace wire {

/// Values of Erf::type.
namespace erf_type {
inline constexpr std::uint8_t ethernet = 2;
inline constexpr std::uint8_t color_ethernet = 11;
inline constexpr std::uint8_t dsm_color_ethernet = 16;
inline constexpr std::uint8_t color_hash_ethernet = 20;
inline constexpr std::uint8_t infiniband = 21;
inline constexpr std::uint8_t ipv4 = 22;
inline constexpr std::uint8_t ipv6 = 23;
inline constexpr std::uint8_t infiniband_link = 25;  ///< link packets: flow control
}  // namespace erf_type

/// Its first eight bytes are a timestamp, which the capture file also has.
struct Erf {
    static constexpr std::size_t size = 16;
    /// Of an extension header: bit 7 of its first byte says whether another one follows.
    static constexpr std::size_t extension_size = 8;

    bool has_extension = false;  ///< an extension header follows
    std::uint8_t type = 0;       ///< kind of the frame
    std::uint8_t flags = 0;      ///< capture interface in bits 1:0; bit 3: truncated
    std::uint16_t rlen = 0;      ///< bytes of the record, this header included
    std::uint16_t lctr = 0;      ///< records lost before this one
    std::uint16_t wlen = 0;      ///< bytes of the frame on the wire

    bool is_ethernet() const {
        return type == erf_type::ethernet || type == erf_type::color_ethernet ||
               type == erf_type::dsm_color_ethernet || type == erf_type::color_hash_ethernet;
    }

    using Fields = Layout<Header::Erf, At<&Erf::has_extension, 64, 1>, At<&Erf::type, 65, 7>,
                          At<&Erf::flags, 72, 8>, At<&Erf::rlen, 80, 16>, At<&Erf::lctr, 96, 16>,
                          At<&Erf::wlen, 112, 16>>;
    friend bool operator==(const Erf&, const Erf&) = default;
};

}  // namespace wire
