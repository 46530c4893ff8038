// Block types and option codes of pcapng.
// Source: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/, sections 3.5 and 4.
#pragma once

#include <cstdint>

namespace capture::pcapng {

inline constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
inline constexpr std::uint32_t tls_key_log = 0x544c534b;

enum Block : std::uint32_t {
    interface_description = 1,
    obsolete_packet = 2,
    simple_packet = 3,
    name_resolution = 4,
    interface_statistics = 5,
    enhanced_packet = 6,
    decryption_secrets = 10,
    section_header = 0x0a0d0d0a,
};

enum Option : std::uint16_t {
    opt_endofopt = 0,
    opt_comment = 1,
    shb_hardware = 2,
    shb_os = 3,
    shb_userappl = 4,
    if_name = 2,
    if_description = 3,
    if_tsresol = 9,
    if_filter = 11,
    if_tsoffset = 14,
    isb_starttime = 2,
    isb_endtime = 3,
    isb_ifdrop = 5,
    isb_filteraccept = 6,
    isb_osdrop = 7,
    isb_usrdeliv = 8,
};

/// Records of a Name Resolution Block (section 4.5).
enum Record : std::uint16_t { nrb_record_end = 0, nrb_record_ipv4 = 1, nrb_record_ipv6 = 2 };

}  // namespace capture::pcapng
