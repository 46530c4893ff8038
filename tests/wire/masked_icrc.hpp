// The ICRC of a sender that masks other fields than the standard says.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <libdeflate.h>

#include "wire/encapsulations.hpp"

namespace wire_test {

// As compute_icrc(), but only these bytes of the IP packet count as ones.
inline void seal(Octets& frame, std::initializer_list<std::size_t> masked, std::size_t covered) {
    Octets bytes(8, std::byte{0xff});
    bytes.insert(bytes.end(), frame.begin() + wire::Ethernet::size,
                 frame.begin() + static_cast<std::ptrdiff_t>(covered));
    for (const std::size_t at : masked)
        bytes[8 + at] = std::byte{0xff};
    const std::uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
    for (std::size_t i = 0; i < 4; ++i)
        frame[frame.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
}
inline void seal(Octets& frame, std::initializer_list<std::size_t> masked) {
    seal(frame, masked, frame.size() - 4);
}

}  // namespace wire_test
