#include <algorithm>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <ifaddrs.h>
#include <iterator>
#include <linux/if_vlan.h>
#include <linux/sockios.h>
#include <memory>
#include <net/if.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "rdma/doctor.hpp"
#include "rdma/names.hpp"
#include "util/fd.hpp"
#include "util/number.hpp"
#include "util/sysfs.hpp"

namespace rdma {
namespace {

namespace fs = std::filesystem;
using util::first_line;

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::path& entry : util::entries_of(folder))
        names.push_back(entry.filename());
    return names;
}

// A file's line is NAME=value, and the value may be in quotation marks.
std::string os_value(std::string value) {
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    return value;
}

// modules.dep lists every module file of the kernel, compressed or not (depmod(8)).
void look_for_rxe(HostFacts& host) {
    host.rxe_loaded = fs::exists("/sys/module/rdma_rxe");
    std::ifstream file("/lib/modules/" + host.kernel + "/modules.dep");
    host.rxe_modules_known = file.good();
    for (std::string line; std::getline(file, line);)
        if (line.find("/rdma_rxe.ko") < line.find(':'))
            host.rxe_available = true;
}

void look_at_nodes(HostFacts& host) {
    for (const std::string& name : names_in("/dev/infiniband"))
        if (name.starts_with("uverbs")) {
            host.uverbs_node = true;
            host.uverbs_access |= access(("/dev/infiniband/" + name).c_str(), R_OK | W_OK) == 0;
        }
    for (const std::string& name : names_in("/sys/class/infiniband_verbs")) {
        const std::string node = "/dev/infiniband/" + name;
        const std::string device = first_line("/sys/class/infiniband_verbs/" + name + "/ibdev");
        if (!device.empty() && access(node.c_str(), F_OK) != 0)
            host.missing_nodes[device] = node;
    }
    host.rdma_cm_node = access("/dev/infiniband/rdma_cm", F_OK) == 0;
    host.rdma_cm_access = access("/dev/infiniband/rdma_cm", R_OK | W_OK) == 0;
}

// Of a VLAN: the interface that carries it.
std::string interface_below(const std::string& name) {
    const util::Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    vlan_ioctl_args request{};
    request.cmd = GET_VLAN_REALDEV_NAME_CMD;
    name.copy(request.device1, sizeof request.device1 - 1);
    return any.get() >= 0 && ioctl(any.get(), SIOCGIFVLAN, &request) == 0 ? request.u.device2 : "";
}

// /sys may be that of another network namespace (unshare(1) without a mount).
void look_at_netdevs(HostFacts& host) {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0)
        return;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, freeifaddrs);
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        // A label of an IPv4 address begins with the interface's name: "eth0:1".
        const std::string_view label = entry->ifa_name;
        const std::string name(label.substr(0, label.find(':')));
        auto netdev = std::ranges::find(host.netdevs, name, &NetdevFacts::name);
        if (netdev == host.netdevs.end())
            netdev = host.netdevs.insert(host.netdevs.end(), NetdevFacts{.name = name});
        const int family = entry->ifa_addr == nullptr ? AF_UNSPEC : entry->ifa_addr->sa_family;
        if (family == AF_INET || family == AF_INET6)
            netdev->addresses.push_back(util::Address(entry->ifa_addr).host());
        if (family != AF_PACKET)
            continue;
        netdev->is_up = (entry->ifa_flags & IFF_RUNNING) != 0;
        netdev->is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
        netdev->has_device = fs::exists("/sys/class/net/" + netdev->name + "/device");
        netdev->is_ethernet =
            reinterpret_cast<const sockaddr_ll*>(entry->ifa_addr)->sll_hatype == ARPHRD_ETHER;
        netdev->below = interface_below(netdev->name);
    }
}

PortFacts look_at_port(ibv_context* context, std::uint8_t port, const std::vector<Gid>& gids) {
    const ibv_port_attr attr = query_port(context, port);
    PortFacts facts;
    facts.device = ibv_get_device_name(context->device);
    facts.port = port;
    facts.state = attr.state;
    facts.is_ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    facts.path_mtu = bytes_of(attr.active_mtu);
    std::ranges::copy_if(gids, std::back_inserter(facts.gids),
                         [&](const Gid& gid) { return gid.port == port; });
    for (const Gid& gid : facts.gids)
        if (facts.netdev.empty())
            facts.netdev = gid.netdev();
    if (facts.netdev.empty())  // no GID names it: use rxe's parent
        facts.netdev = first_line("/sys/class/infiniband/" + facts.device + "/parent");
    if (!facts.netdev.empty()) {
        const fs::path netdev = "/sys/class/net/" + facts.netdev;
        facts.netdev_mtu = util::number_of<unsigned>(first_line(netdev / "mtu")).value_or(0);
        facts.netdev_up = first_line(netdev / "operstate") == "up";
    }
    facts.default_roce_mode = first_line(fmt::format(
        "/sys/kernel/config/rdma_cm/{}/ports/{}/default_roce_mode", facts.device, port));
    return facts;
}

void look_at_devices(HostFacts& host) {
    host.kernel_devices = names_in("/sys/class/infiniband");
    host.verbs_devices = device_names();
    for (const std::string& name : host.verbs_devices) {
        try {
            const Context context = open_device(name);
            host.opened_devices.push_back(name);
            const auto gids = gid_table(context.get());
            ibv_device_attr device{};
            if (ibv_query_device(context.get(), &device) == 0)
                for (std::uint8_t port = 1; port <= device.phys_port_cnt; ++port)
                    host.ports.push_back(look_at_port(context.get(), port, gids));
        } catch (const std::exception&) {
            // Its ports are unknown; the checks of user space report why.
        }
    }
}

}  // namespace

std::vector<std::string> os_ids(std::istream& os_release) {
    std::string id;
    std::string like;
    for (std::string line; std::getline(os_release, line);)
        if (line.starts_with("ID="))
            id = os_value(line.substr(3));
        else if (line.starts_with("ID_LIKE="))
            like = os_value(line.substr(8));
    std::istringstream words(id + ' ' + like);
    return {std::istream_iterator<std::string>(words), {}};
}

HostFacts gather() {
    HostFacts host;
    utsname name{};
    uname(&name);
    host.kernel = name.release;
    host.is_root = geteuid() == 0;
    std::ifstream os_release("/etc/os-release");
    host.os_ids = os_ids(os_release);
    look_at_netdevs(host);
    look_for_rxe(host);
    look_at_nodes(host);
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        host.memlock = limit.rlim_cur;
    look_at_devices(host);
    return host;
}

}  // namespace rdma
