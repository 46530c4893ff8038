#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/common/program.hpp"
#include "rdma/device.hpp"
#include "util/error.hpp"

namespace common {
namespace {

std::string only_device() {
    const auto names = rdma::device_names();
    if (names.empty())
        throw util::Error(
            "this host has no RDMA device. Run 00_hello/devices to find out what is missing.");
    if (names.size() > 1)
        throw util::Error(
            fmt::format("this host has several RDMA devices: choose one with --device ({}).",
                        fmt::join(names, ", ")));
    return names.front();
}

// Prefers a RoCE v2 entry of the given family, and a global address over a link-local one, which
// would need a scope on the other host too.
rdma::Gid usual_gid(ibv_context* context, bool ipv6) {
    auto table = rdma::gid_table(context);
    std::erase_if(table, [](const rdma::Gid& gid) { return gid.type != IBV_GID_TYPE_ROCE_V2; });
    const auto cost = [ipv6](const rdma::Gid& gid) {
        const util::Address address = gid.address();
        const bool link_local = gid.raw.raw[0] == 0xfe && (gid.raw.raw[1] & 0xc0) == 0x80;
        return 2 * (address.is_ipv6() != ipv6) + link_local;
    };
    const auto best = std::ranges::min_element(table, {}, cost);
    if (best == table.end())
        throw util::Error(
            fmt::format("{} has no RoCE v2 GID: give its network interface an IP address.",
                        ibv_get_device_name(context->device)));
    return *best;
}

}  // namespace

std::optional<util::Address> LocalEnd::resolve(std::uint16_t port, bool ipv6) const {
    if (!address.empty()) {
        auto parsed = util::Address::parse(address, port);
        if (!parsed)
            throw util::Error(fmt::format("'{}' is not an IPv4 or IPv6 address.", address));
        return parsed;
    }
    if (device.empty() && !gid_index)
        return std::nullopt;
    const rdma::Context context = rdma::open_device(device.empty() ? only_device() : device);
    const rdma::Gid gid =
        gid_index ? rdma::gid_at(context.get(), 1, *gid_index) : usual_gid(context.get(), ipv6);
    if (gid.type != IBV_GID_TYPE_ROCE_V2)
        throw util::Error(fmt::format(
            "GID index {} is not RoCE v2: the lessons use RoCE v2 at both ends.", gid.index));
    util::Address result = gid.address();
    result.set_port(port);
    return result;
}

}  // namespace common
