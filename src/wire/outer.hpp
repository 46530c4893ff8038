// The encapsulations around a packet: tunnels, mirrors and labels, outermost first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/address.hpp"

namespace wire {

enum class OuterKind : std::uint8_t {
    Ip,      ///< IPv4 or IPv6 in IPv4 or IPv6 (RFC 2003, RFC 4213, RFC 2473)
    Gre,     ///< RFC 2784, RFC 2890
    Nvgre,   ///< RFC 7637
    Erspan,  ///< a mirrored frame in GRE (draft-foschiano-erspan)
    Vxlan,   ///< RFC 7348
    Geneve,  ///< RFC 8926
    Gtp,     ///< GTP-U (3GPP TS 29.281)
    Mpls,    ///< a label stack (RFC 3032)
    Pppoe,   ///< a PPPoE session (RFC 2516)
};

/// "ipip", "gre", "nvgre", "erspan", "vxlan", "geneve", "gtp", "mpls", "pppoe".
std::string_view name(OuterKind kind);

/// "IP in IP", "GRE", "NVGRE", "ERSPAN", "VXLAN", "GENEVE", "GTP-U", "MPLS", "PPPoE".
std::string_view label(OuterKind kind);

/// One encapsulation: its header and the IP header that carries it.
struct OuterLayer {
    /// Source and destination of the IP header, in the frame; empty for MPLS and PPPoE directly
    /// after a link header.
    util::Bytes addresses{};
    /// VNI, GRE key, NVGRE virtual subnet, ERSPAN session, innermost MPLS label, TEID, or PPPoE
    /// session. See has_id().
    std::uint32_t id = 0;
    /// GRE and GENEVE: protocol type of the payload. ERSPAN: the mirrored VLAN, 0 if none.
    std::uint16_t extra = 0;
    OuterKind kind{};
    /// ERSPAN: type, 1 to 3. MPLS: number of labels, at most 255. GRE: 1 if it has a key.
    std::uint8_t detail = 0;

    bool has_id() const;
    IpAddress src() const;
    IpAddress dst() const;
    /// "VXLAN 42", "GRE", "GRE key 7", "MPLS 17", "ERSPAN 100", "IP in IP".
    std::string text() const;
};

/// Usable in a range-based for.
struct Outer {
    static constexpr std::size_t capacity = 8;

    std::array<OuterLayer, capacity> layers{};
    std::uint8_t count = 0;
    /// The innermost encapsulation carries an Ethernet frame, not an IP packet.
    bool carries_ethernet = false;

    const OuterLayer* begin() const { return layers.data(); }
    const OuterLayer* end() const { return layers.data() + count; }
    const OuterLayer& innermost() const { return layers[count - 1U]; }
    /// "ERSPAN 100, VXLAN 42".
    std::string text() const;
};

}  // namespace wire
