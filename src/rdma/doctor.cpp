#include "rdma/doctor.hpp"

#include <algorithm>

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

// Interface for a Soft-RoCE device: the one with the requested address, else one with a hardware
// device. If there are several, `others` lists the rest.
struct Choice {
    std::string netdev;
    std::string others;
};
Choice choose_netdev(const HostFacts& host, const std::optional<util::Address>& address) {
    std::vector<NetdevFacts> netdevs = host.netdevs;
    std::stable_partition(netdevs.begin(), netdevs.end(),
                          [](const NetdevFacts& netdev) { return netdev.has_device; });
    std::vector<std::string> names;
    for (const NetdevFacts& netdev : netdevs) {
        if (address && std::ranges::count(netdev.addresses, address->host()) != 0)
            return {netdev.name, ""};
        names.push_back(netdev.name);
    }
    if (names.empty())
        return {"eth0", ""};
    const std::string first = names.front();
    names.erase(names.begin());
    return {first, names.empty() ? "" : fmt::format(" (or of {})", fmt::join(names, ", "))};
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
            "install the kernel's full modules (Ubuntu: linux-modules-extra-$(uname -r); Debian: "
            "linux-image-amd64, "
            "not the cloud one), or use the lab's own machines: make lab-up");
    else
        report.wrong(
            fmt::format("the kernel {} has no RDMA device and no modules to load", host.kernel),
            "use the lab's own machines: make lab-up");
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
        report.good(fmt::format("libibverbs opens {}", fmt::join(host.verbs_devices, ", ")));

    if (!host.rdma_cm_node)
        report.wrong("/dev/infiniband/rdma_cm is missing: rdma_cm programs cannot connect",
                     "sudo modprobe rdma_ucm");
    else if (!host.rdma_cm_access)
        report.wrong("this user may not open /dev/infiniband/rdma_cm",
                     "run as root, or join the group that owns it: ls -l /dev/infiniband");
    else
        report.good("rdma_cm can be used");
}

void check_port(const PortFacts& port, Report& report) {
    const std::string name = fmt::format("{} port {}", port.device, port.port);
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
        if (!port.is_ethernet)
            continue;
        const auto v2 = std::ranges::count(port.gids, IBV_GID_TYPE_ROCE_V2, &Gid::type);
        if (v2 > 0)
            report.good(fmt::format("{} port {} has {} RoCE v2 GIDs", port.device, port.port, v2));
        else
            report.wrong(fmt::format("{} port {} has no RoCE v2 GID", port.device, port.port),
                         fmt::format("sudo ip addr add 192.0.2.1/24 dev {}",
                                     port.netdev.empty() ? "NETDEV" : port.netdev));
    }
}

void check_gid_of(const util::Address& address, const HostFacts& host, Report& report) {
    bool other_type = false;
    for (const PortFacts& port : host.ports)
        for (const Gid& gid : port.gids)
            if (gid.address().host() == address.host()) {
                if (gid.type == IBV_GID_TYPE_ROCE_V2) {
                    report.good(fmt::format("{} is RoCE v2 GID index {} of {} port {}",
                                            address.host(), gid.index, port.device, port.port));
                    return;
                }
                other_type = true;
            }
    const PortFacts* port = host.ports.empty() ? nullptr : &host.ports.front();
    if (port == nullptr)
        return;  // the missing device is the finding
    if (other_type)
        report.wrong(fmt::format("{} has a GID, but none of type RoCE v2", address.host()),
                     "use a device whose driver does RoCE v2, or set its RoCE mode to v2");
    else
        report.wrong(
            fmt::format("no RDMA device has a GID for {}", address.host()),
            fmt::format(
                "sudo ip addr add {}/{} dev {} (or use an address that 00_hello/devices lists)",
                address.host(), address.is_ipv6() ? 64 : 24,
                port->netdev.empty() ? "NETDEV" : port->netdev));
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
        check_port(port, report);
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
