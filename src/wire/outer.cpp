#include "wire/outer.hpp"

#include <fmt/format.h>

namespace wire {
namespace {

constexpr std::size_t two_ipv4 = 2 * Ipv4Address::size;
constexpr std::size_t two_ipv6 = 2 * Ipv6Address::size;

template <std::size_t Index>
IpAddress address(util::Bytes addresses) {
    if (addresses.size() == two_ipv4)
        return Ipv4Address::at<Index * Ipv4Address::size>(addresses.first<two_ipv4>());
    if (addresses.size() == two_ipv6)
        return Ipv6Address::at<Index * Ipv6Address::size>(addresses.first<two_ipv6>());
    return {};
}

}  // namespace

std::string_view name(OuterKind kind) {
    switch (kind) {
        case OuterKind::Ip:
            return "ipip";
        case OuterKind::Gre:
            return "gre";
        case OuterKind::Nvgre:
            return "nvgre";
        case OuterKind::Erspan:
            return "erspan";
        case OuterKind::Vxlan:
            return "vxlan";
        case OuterKind::Geneve:
            return "geneve";
        case OuterKind::Gtp:
            return "gtp";
        case OuterKind::Mpls:
            return "mpls";
        case OuterKind::Pppoe:
            return "pppoe";
    }
    return "unknown";
}

std::string_view label(OuterKind kind) {
    switch (kind) {
        case OuterKind::Ip:
            return "IP in IP";
        case OuterKind::Gre:
            return "GRE";
        case OuterKind::Nvgre:
            return "NVGRE";
        case OuterKind::Erspan:
            return "ERSPAN";
        case OuterKind::Vxlan:
            return "VXLAN";
        case OuterKind::Geneve:
            return "GENEVE";
        case OuterKind::Gtp:
            return "GTP-U";
        case OuterKind::Mpls:
            return "MPLS";
        case OuterKind::Pppoe:
            return "PPPoE";
    }
    return "unknown";
}

bool OuterLayer::has_id() const {
    switch (kind) {
        case OuterKind::Ip:
            return false;
        case OuterKind::Gre:
            return detail != 0;
        case OuterKind::Erspan:
            return detail > 1;
        default:
            return true;
    }
}

IpAddress OuterLayer::src() const {
    return address<0>(addresses);
}

IpAddress OuterLayer::dst() const {
    return address<1>(addresses);
}

std::string OuterLayer::text() const {
    if (!has_id())
        return std::string(label(kind));
    return fmt::format("{} {}{}", label(kind), kind == OuterKind::Gre ? "key " : "", id);
}

std::string Outer::text() const {
    std::string text;
    for (const OuterLayer& layer : *this)
        text += (text.empty() ? "" : ", ") + layer.text();
    return text;
}

}  // namespace wire
