// Global Route Header, the network header of RoCEv1 (IBTA volume 1, 8.3; annex A16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/ip.hpp"

namespace wire {

/// Names as in Wireshark's infiniband.grh.*.
struct Grh {
    static constexpr std::size_t size = 40;

    std::uint8_t ipver = 6;
    std::uint8_t tclass = 0;
    std::uint32_t flowlabel = 0;  ///< 20 bits
    std::uint16_t paylen = 0;     ///< bytes from the BTH to the ICRC, inclusive
    std::uint8_t nxthdr = ip_protocol::iba;
    std::uint8_t hoplmt = 64;
    Gid sgid;
    Gid dgid;

    static Grh parse(util::FixedBytes<size> bytes);
    void write(std::span<std::byte, size> out) const;
    friend bool operator==(const Grh&, const Grh&) = default;
};

}  // namespace wire
