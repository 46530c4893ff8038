// The link types of capture files. Numbers: https://www.tcpdump.org/linktypes.html
#pragma once

#include <cstdint>
#include <optional>

#include "wire/ethernet.hpp"

namespace capture {

inline constexpr std::uint16_t linktype_ethernet = 1;
inline constexpr std::uint16_t linktype_raw = 101;
inline constexpr std::uint16_t linktype_old_raw = 12;  // Linux's DLT_RAW, used by some files
inline constexpr std::uint16_t linktype_linux_sll = 113;
inline constexpr std::uint16_t linktype_erf = 197;
inline constexpr std::uint16_t linktype_ipv4 = 228;
inline constexpr std::uint16_t linktype_ipv6 = 229;
inline constexpr std::uint16_t linktype_infiniband = 247;
inline constexpr std::uint16_t linktype_linux_sll2 = 276;

constexpr std::uint16_t linktype_number(wire::LinkType type) {
    switch (type) {
        case wire::LinkType::LinuxCooked:
            return linktype_linux_sll;
        case wire::LinkType::LinuxCooked2:
            return linktype_linux_sll2;
        case wire::LinkType::RawIp:
            return linktype_raw;
        case wire::LinkType::Infiniband:
            return linktype_infiniband;
        case wire::LinkType::Erf:
            return linktype_erf;
        case wire::LinkType::Ethernet:
            break;
    }
    return linktype_ethernet;
}

/// Returns nullopt for a link type that is not decoded here.
constexpr std::optional<wire::LinkType> link_type_of_number(int number) {
    switch (number) {
        case linktype_ethernet:
            return wire::LinkType::Ethernet;
        case linktype_linux_sll:
            return wire::LinkType::LinuxCooked;
        case linktype_linux_sll2:
            return wire::LinkType::LinuxCooked2;
        case linktype_raw:
        case linktype_old_raw:
        case linktype_ipv4:
        case linktype_ipv6:
            return wire::LinkType::RawIp;
        case linktype_infiniband:
            return wire::LinkType::Infiniband;
        case linktype_erf:
            return wire::LinkType::Erf;
        default:
            return std::nullopt;
    }
}

}  // namespace capture
