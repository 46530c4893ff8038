// Checks of ports, their interfaces and their GIDs.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "rdma/doctor_checks.hpp"
#include "rdma/names.hpp"

namespace rdma {
namespace {

// Soft-RoCE uses the largest path MTU that fits in the interface's MTU with its longest headers:
// 4200 is enough for 4096 (kernel drivers/infiniband/sw/rxe/rxe.h, eth_mtu_int_to_enum).
constexpr unsigned mtu_for_4096 = 4200;

const NetdevFacts* netdev_of(const HostFacts& host, std::string_view name) {
    const auto found = std::ranges::find(host.netdevs, name, &NetdevFacts::name);
    return found == host.netdevs.end() ? nullptr : &*found;
}

// The GID is the address of an interface of this network namespace. Link-local GIDs are left out:
// that of index 0 is made of the Ethernet address, and the interface may have another one.
bool is_usable(const Gid& gid, const HostFacts& host) {
    const bool is_link_local = gid.raw.raw[0] == 0xfe && (gid.raw.raw[1] & 0xc0) == 0x80;
    return host.netdevs.empty() || is_link_local || netdev_with(host, gid.address()) != nullptr;
}

// In a container, a port may be on an interface of the host and have GIDs of one here above it (macvlan).
bool is_elsewhere(const PortFacts& port, const HostFacts& host) {
    return !host.netdevs.empty() && !port.netdev.empty() &&
           netdev_of(host, port.netdev) == nullptr &&
           std::ranges::none_of(port.gids, [&](const Gid& gid) {
               return netdev_with(host, gid.address()) != nullptr;
           });
}

// Returns whether RoCE packets can be sent and received here.
bool has_usable_netdev(const PortFacts& port, const HostFacts& host, Report& report) {
    const NetdevFacts* netdev = netdev_of(host, port.netdev);
    if (port.is_ethernet && is_elsewhere(port, host))
        report.wrong(fmt::format("{} port {} is on {}, which is in another network namespace: its "
                                 "addresses cannot be used here",
                                 port.device, port.port, port.netdev),
                     fmt::format("run in the namespace that has {} (sudo nsenter -t 1 -n: that of "
                                 "the host)",
                                 port.netdev));
    else if (port.is_ethernet && netdev != nullptr && !netdev->is_ethernet && !netdev->is_loopback)
        report.wrong(fmt::format("{} port {} is on {}, which has no Ethernet address: RoCE packets "
                                 "cannot be sent to others",
                                 port.device, port.port, port.netdev),
                     fmt::format("sudo rdma link delete {0} && sudo rdma link add {0} type rxe "
                                 "netdev {1}",
                                 port.device, choose_netdev(host, std::nullopt).netdev));
    else
        return true;
    return false;
}

// Use of this GID fails: `verdict` is wrong if no other one can be used.
void stale_gid(const PortFacts& port, const Gid& gid, Verdict verdict, Report& report) {
    report.add({verdict,
                fmt::format("GID index {} of {} port {}, {}, is the address of no interface here: "
                            "replies to it do not arrive",
                            gid.index, port.device, port.port, gid.address().host()),
                fmt::format("sudo ip addr add {}/{} dev {}, or another GID index",
                            gid.address().host(), gid.address().is_ipv6() ? 64 : 24,
                            port.netdev.empty() ? "NETDEV" : port.netdev)});
}

// No GID is this address.
void without_gid(const util::Address& address, const HostFacts& host, Report& report) {
    const NetdevFacts* netdev = netdev_with(host, address);
    const PortFacts* port = host.ports.empty() ? nullptr : &host.ports.front();
    if (host.kernel_devices.empty())
        return;  // the missing device is the finding
    if (netdev != nullptr && !netdev->is_ethernet && netdev->below.empty()) {
        report.wrong(fmt::format("{} is the address of {}, which has no Ethernet address: no RoCE "
                                 "device can have it",
                                 address.host(), netdev->name),
                     "use the address of an Ethernet interface");
        return;
    }
    if (netdev != nullptr &&
        std::ranges::count(host.ports, carrier(*netdev), &PortFacts::netdev) == 0) {
        report.wrong(
            fmt::format("{} is the address of {}, which has no RDMA device", address.host(),
                        netdev->name),
            fmt::format("sudo rdma link add rxe{} type rxe netdev {} (or use an address that "
                        "00_hello/devices lists)",
                        host.kernel_devices.size(), carrier(*netdev)));
        return;
    }
    if (port == nullptr)
        return;  // so is a device that cannot be opened
    report.wrong(
        fmt::format("no RDMA device has a GID for {}", address.host()),
        netdev != nullptr
            ? fmt::format("sudo ip link set {0} down && sudo ip link set {0} up (the kernel "
                          "then writes the GIDs of its addresses again)",
                          carrier(*netdev))
            : fmt::format("sudo ip addr add {}/{} dev {} (or use an address that "
                          "00_hello/devices lists)",
                          address.host(), address.is_ipv6() ? 64 : 24,
                          port->netdev.empty() ? "NETDEV" : port->netdev));
}

}  // namespace

void check_port(const PortFacts& port, const HostFacts& host, Report& report) {
    const std::string name = fmt::format("{} port {}", port.device, port.port);
    if (!has_usable_netdev(port, host, report))
        return;
    if (port.state == IBV_PORT_ACTIVE)
        report.good(
            fmt::format("{} is ACTIVE{}", name, port.netdev.empty() ? "" : " on " + port.netdev));
    else
        report.wrong(
            fmt::format(
                "{} is {}{}", name, name_of(port.state),
                port.netdev.empty() || port.netdev_up ? "" : ": " + port.netdev + " is down"),
            port.netdev.empty() ? "check the cable and the switch port"
                                : fmt::format("sudo ip link set {} up", port.netdev));
    if (port.is_ethernet && port.path_mtu < 4096 && port.netdev_mtu > 0 &&
        port.netdev_mtu < mtu_for_4096)
        report.advice(
            fmt::format(
                "{} has path MTU {}, because {}'s MTU is {}: more packets for the same bytes", name,
                port.path_mtu, port.netdev, port.netdev_mtu),
            fmt::format("sudo ip link set {} mtu {} (if both ends and all switches can)",
                        port.netdev, mtu_for_4096));
    else
        report.good(fmt::format("{} has path MTU {}", name, port.path_mtu));
    if (port.is_ethernet && !port.default_roce_mode.empty() && port.default_roce_mode != "RoCE v2")
        report.wrong(
            fmt::format("rdma_cm on {} uses {} by default; the other end must use the same", name,
                        port.default_roce_mode),
            fmt::format("echo 'RoCE v2' | sudo tee "
                        "/sys/kernel/config/rdma_cm/{}/ports/{}/default_roce_mode",
                        port.device, port.port));
}

void check_any_gid(const HostFacts& host, Report& report) {
    for (const PortFacts& port : host.ports) {
        if (!port.is_ethernet || is_elsewhere(port, host))
            continue;
        const auto is_v2 = [](const Gid& gid) { return gid.type == IBV_GID_TYPE_ROCE_V2; };
        const auto usable = std::ranges::count_if(
            port.gids, [&](const Gid& gid) { return is_v2(gid) && is_usable(gid, host); });
        for (const Gid& gid : port.gids)
            if (is_v2(gid) && !is_usable(gid, host))
                stale_gid(port, gid, usable > 0 ? Verdict::advice : Verdict::wrong, report);
        if (usable > 0)
            report.good(
                fmt::format("{} port {} has {} RoCE v2 GIDs", port.device, port.port, usable));
        else if (std::ranges::none_of(port.gids, is_v2))
            report.wrong(fmt::format("{} port {} has no RoCE v2 GID", port.device, port.port),
                         fmt::format("sudo ip addr add 192.0.2.1/24 dev {}",
                                     port.netdev.empty() ? "NETDEV" : port.netdev));
    }
}

void check_gid_of(const util::Address& address, const HostFacts& host, Report& report) {
    bool other_type = false;
    for (const PortFacts& port : host.ports)
        for (const Gid& gid : port.gids) {
            if (!gid.address().is_host_of(address))
                continue;
            if (gid.type != IBV_GID_TYPE_ROCE_V2) {
                other_type = true;
                continue;
            }
            if (is_usable(gid, host))
                report.good(fmt::format("{} is RoCE v2 GID index {} of {} port {}", address.host(),
                                        gid.index, port.device, port.port));
            else
                stale_gid(port, gid, Verdict::wrong, report);
            return;
        }
    if (other_type)
        report.wrong(fmt::format("{} has a GID, but none of type RoCE v2", address.host()),
                     "use a device whose driver does RoCE v2, or set its RoCE mode to v2");
    else
        without_gid(address, host, report);
}

}  // namespace rdma
