// Base Transport Header, in every RoCE packet (IBTA volume 1, 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/cursor.hpp"
#include "wire/layout.hpp"
#include "wire/psn.hpp"

namespace wire {

/// All integers in host byte order; names as in Wireshark's infiniband.bth.*.
struct Bth {
    static constexpr std::size_t size = 12;

    std::uint8_t opcode = 0;
    bool se = false;          ///< solicited event
    bool m = false;           ///< MigReq
    std::uint8_t padcnt = 0;  ///< 0..3 bytes between payload and ICRC
    std::uint8_t tver = 0;    ///< transport header version, always 0 at present
    std::uint16_t p_key = 0;
    bool fecn = false;  ///< the packet encountered congestion on its path (annex A17)
    bool becn = false;  ///< reports congestion back to the sender; set in a CNP
    std::uint8_t reserved6 = 0;
    std::uint32_t dest_qpn = 0;  ///< 24 bits
    bool a = false;              ///< acknowledge request
    std::uint8_t reserved7 = 0;
    Psn psn;

    using Fields = Layout<Header::Bth, At<&Bth::opcode, 0, 8>, At<&Bth::se, 8, 1>,
                          At<&Bth::m, 9, 1>, At<&Bth::padcnt, 10, 2>, At<&Bth::tver, 12, 4>,
                          At<&Bth::p_key, 16, 16>, At<&Bth::fecn, 32, 1>, At<&Bth::becn, 33, 1>,
                          At<&Bth::reserved6, 34, 6>, At<&Bth::dest_qpn, 40, 24>,
                          At<&Bth::a, 64, 1>, At<&Bth::reserved7, 65, 7>, At<&Bth::psn, 72, 24>>;
    friend bool operator==(const Bth&, const Bth&) = default;
};

}  // namespace wire
