#include "rdma/doctor.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rdma/names.hpp"

namespace rdma {

namespace key = runlog::key;

namespace {

constexpr std::uint64_t enough_memlock = 64u << 20;

// Soft-RoCE uses the largest path MTU that fits in the interface's MTU with its longest headers:
// 4200 is enough for 4096 (kernel drivers/infiniband/sw/rxe/rxe.h, eth_mtu_int_to_enum).
constexpr unsigned mtu_for_4096 = 4200;

class Report {
  public:
    void add(Finding finding) { findings_.push_back(std::move(finding)); }
    void good(std::string what) { findings_.push_back({Verdict::good, std::move(what), ""}); }
    void advice(std::string what, std::string fix) {
        findings_.push_back({Verdict::advice, std::move(what), std::move(fix)});
    }
    void wrong(std::string what, std::string fix) {
        findings_.push_back({Verdict::wrong, std::move(what), std::move(fix)});
    }
    std::vector<Finding> take() { return std::move(findings_); }

  private:
    std::vector<Finding> findings_;
};

const NetdevFacts* netdev_of(const HostFacts& host, std::string_view name) {
    const auto found = std::ranges::find(host.netdevs, name, &NetdevFacts::name);
    return found == host.netdevs.end() ? nullptr : &*found;
}

// The interface that has this address; nullptr: none of this network namespace.
const NetdevFacts* netdev_with(const HostFacts& host, const util::Address& address) {
    const auto has_it = [&](const NetdevFacts& netdev) {
        return std::ranges::any_of(netdev.addresses, [&](const std::string& text) {
            const auto one = util::Address::parse(text);
            return one && one->is_host_of(address);
        });
    };
    const auto found = std::ranges::find_if(host.netdevs, has_it);
    return found == host.netdevs.end() ? nullptr : &*found;
}

// Debian's name for the newest kernel of this architecture.
#if defined(__aarch64__)
constexpr std::string_view kernel_package = "linux-image-arm64";
#else
constexpr std::string_view kernel_package = "linux-image-amd64";
#endif

// A Soft-RoCE device carries the addresses of an interface, and of the VLANs above it. The kernel refuses one on a VLAN.
const std::string& carrier(const NetdevFacts& netdev) {
    return netdev.below.empty() ? netdev.name : netdev.below;
}

// Interface for a Soft-RoCE device: the one with the requested address, else one with a hardware
// device. If there are several, `others` lists the rest.
struct Choice {
    std::string netdev;
    std::string others;
};
Choice choose_netdev(const HostFacts& host, const std::optional<util::Address>& address) {
    const NetdevFacts* wanted = address ? netdev_with(host, *address) : nullptr;
    if (wanted != nullptr && (wanted->is_ethernet || !wanted->below.empty()))
        return {carrier(*wanted), ""};
    std::vector<NetdevFacts> netdevs;
    std::ranges::copy_if(host.netdevs, std::back_inserter(netdevs), [](const NetdevFacts& netdev) {
        return netdev.is_up && netdev.is_ethernet && !netdev.is_loopback && netdev.below.empty();
    });
    std::stable_partition(netdevs.begin(), netdevs.end(),
                          [](const NetdevFacts& netdev) { return netdev.has_device; });
    std::vector<std::string> names;
    std::ranges::transform(netdevs, std::back_inserter(names), &NetdevFacts::name);
    if (names.empty())
        return {"eth0", ""};
    const std::string first = names.front();
    names.erase(names.begin());
    return {first, names.empty() ? "" : fmt::format(" (or of {})", fmt::join(names, ", "))};
}

// What installs the module rdma_rxe. A derived distribution lists its parents in ID_LIKE: Ubuntu's
// answer comes before Debian's.
std::string module_package(const HostFacts& host) {
    const auto is = [&](std::string_view id) { return std::ranges::count(host.os_ids, id) != 0; };
    if (host.kernel.find("microsoft") != std::string::npos)
        return "WSL2's kernel is built without it";
    if (is("ubuntu"))
        return "sudo apt-get install linux-modules-extra-$(uname -r)";
    if (is("debian"))
        return fmt::format("sudo apt-get install {} (not the cloud one), and boot it",
                           kernel_package);
    if (is("fedora") || is("rhel"))
        return "sudo dnf install kernel-modules-$(uname -r) kernel-modules-extra-$(uname -r)";
    if (is("arch"))
        return "sudo pacman -S linux, and boot it";
    return "install the kernel's full modules";
}

void check_kernel(const HostFacts& host, const std::optional<util::Address>& address,
                  Report& report) {
    if (!host.kernel_devices.empty()) {
        report.good(fmt::format("the kernel has {}", fmt::join(host.kernel_devices, ", ")));
        return;
    }
    const Choice choice = choose_netdev(host, address);
    const std::string link =
        fmt::format("sudo rdma link add rxe0 type rxe netdev {}{}", choice.netdev, choice.others);
    if (host.rxe_loaded)
        report.wrong("the kernel has no RDMA device; Soft-RoCE is loaded but on no interface",
                     link);
    else if (host.rxe_available)
        report.wrong("the kernel has no RDMA device; Soft-RoCE is not loaded",
                     "sudo modprobe rdma_rxe && " + link);
    else if (host.rxe_modules_known)
        report.wrong(
            fmt::format("the kernel {} has no RDMA device and no Soft-RoCE module", host.kernel),
            module_package(host) + "; or use the lab's own machines: make lab-up");
    else
        report.wrong(
            fmt::format("the kernel {} has no RDMA device and no modules to load", host.kernel),
            "use the lab's own machines: make lab-up");
}

// Each device has a node of its own, and its kernel driver an ABI version of its own.
void check_opened(const HostFacts& host, Report& report) {
    if (!host.opened_devices.empty())
        report.good(fmt::format("libibverbs opens {}", fmt::join(host.opened_devices, ", ")));
    for (const std::string& name : host.kernel_devices) {
        if (std::ranges::count(host.opened_devices, name) != 0)
            continue;
        if (const auto node = host.missing_nodes.find(name); node != host.missing_nodes.end())
            report.wrong(fmt::format("{} cannot be opened: {} is missing", name, node->second),
                         "sudo udevadm trigger --subsystem-match=infiniband_verbs; a container "
                         "needs --device /dev/infiniband");
        else
            report.wrong(std::ranges::count(host.verbs_devices, name) == 0
                             ? fmt::format("libibverbs does not list {}: it has no provider for "
                                           "this device, or an older one than its driver",
                                           name)
                             : fmt::format("libibverbs cannot open {}", name),
                         fmt::format("ibv_devinfo -d {} shows the reason", name));
    }
}

void check_user_space(const HostFacts& host, Report& report) {
    if (host.kernel_devices.empty())
        return;
    if (!host.uverbs_node)
        report.wrong("/dev/infiniband has no uverbs device", "sudo modprobe ib_uverbs");
    else if (!host.uverbs_access)
        report.wrong("this user may not open /dev/infiniband/uverbs*",
                     "run as root, or join the group that owns it: ls -l /dev/infiniband");
    else if (host.verbs_devices.empty())
        report.wrong("libibverbs finds no userspace provider for the kernel's device",
                     "sudo apt-get install ibverbs-providers");
    else
        check_opened(host, report);

    if (!host.rdma_cm_node)
        report.wrong("/dev/infiniband/rdma_cm is missing: rdma_cm programs cannot connect",
                     "sudo modprobe rdma_ucm");
    else if (!host.rdma_cm_access)
        report.wrong("this user may not open /dev/infiniband/rdma_cm",
                     "run as root, or join the group that owns it: ls -l /dev/infiniband");
    else
        report.good("rdma_cm can be used");
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

void check_memlock(const HostFacts& host, Report& report) {
    if (host.memlock && *host.memlock < enough_memlock && !host.is_root)
        report.advice(fmt::format("this user may lock {} KiB of memory: ibv_reg_mr of more fails",
                                  *host.memlock / 1024),
                      "ulimit -l unlimited (as root), or a line '* - memlock unlimited' in "
                      "/etc/security/limits.conf");
    else
        report.good("memory can be locked: " + (host.memlock && !host.is_root
                                                    ? fmt::format("{} KiB", *host.memlock / 1024)
                                                    : "no limit applies"));
}

}  // namespace

std::vector<Finding> diagnose(const HostFacts& host, const std::optional<util::Address>& address) {
    Report report;
    check_kernel(host, address, report);
    check_user_space(host, report);
    for (const PortFacts& port : host.ports)
        check_port(port, host, report);
    if (address)
        check_gid_of(*address, host, report);
    else
        check_any_gid(host, report);
    check_memlock(host, report);
    return report.take();
}

runlog::Fields describe(const Finding& finding) {
    constexpr std::string_view words[] = {"good", "advice", "wrong"};
    runlog::Fields fields{{key::verdict, words[static_cast<int>(finding.verdict)]},
                          {key::what, finding.what}};
    if (!finding.fix.empty())
        fields.emplace_back(key::fix, finding.fix);
    return fields;
}

}  // namespace rdma
