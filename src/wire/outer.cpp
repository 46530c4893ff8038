#include "wire/outer.hpp"

#include <fmt/format.h>

namespace wire {
namespace {

constexpr std::size_t two_ipv4 = 2 * Ipv4Address::size;
constexpr std::size_t two_ipv6 = 2 * Ipv6Address::size;

struct KindText {
    std::string_view name;
    std::string_view label;
};

// In the order of OuterKind.
constexpr auto kinds = std::to_array<KindText>({
    {"ipip", "IP in IP"},
    {"gre", "GRE"},
    {"nvgre", "NVGRE"},
    {"erspan", "ERSPAN"},
    {"vxlan", "VXLAN"},
    {"geneve", "GENEVE"},
    {"gtp", "GTP-U"},
    {"mpls", "MPLS"},
    {"pppoe", "PPPoE"},
});

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
    return kinds[static_cast<std::size_t>(kind)].name;
}

std::string_view label(OuterKind kind) {
    return kinds[static_cast<std::size_t>(kind)].label;
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
