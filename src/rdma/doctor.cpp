// Checks of the host: modules, libraries, limits. Those of ports and GIDs: doctor_ports.cpp.
#include "rdma/doctor.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rdma/doctor_checks.hpp"

namespace rdma {

namespace key = runlog::key;

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

const std::string& carrier(const NetdevFacts& netdev) {
    return netdev.below.empty() ? netdev.name : netdev.below;
}

NetdevChoice choose_netdev(const HostFacts& host, const std::optional<util::Address>& address) {
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

namespace {

constexpr std::uint64_t enough_memlock = 64u << 20;

// Debian's name for the newest kernel of this architecture.
#if defined(__aarch64__)
constexpr std::string_view kernel_package = "linux-image-arm64";
#else
constexpr std::string_view kernel_package = "linux-image-amd64";
#endif

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
    const NetdevChoice choice = choose_netdev(host, address);
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
