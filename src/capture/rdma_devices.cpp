#include "capture/rdma_devices.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/sysfs.hpp"

namespace capture {
namespace {

namespace fs = std::filesystem;
using util::entries_of;
using util::first_line;

// Returns ACTIVE for "4: ACTIVE".
std::string after_number(const std::string& line) {
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? line : line.substr(colon + 2);
}

// Kernels before 5.11 give rxe and siw the network card's device. Only rxe has a file `parent`,
// with the name of its network interface.
std::string driver_of(const fs::path& path) {
    std::error_code none;
    const fs::path driver = fs::read_symlink(path / "device/driver", none);
    return none || fs::exists(path / "parent") ? std::string() : driver.filename().string();
}

void look_at_ports(const fs::path& path, RdmaDevice& device) {
    for (const fs::path& port : entries_of(path / "ports")) {
        const std::string state = after_number(first_line(port / "state"));
        if (device.state.empty() || state == "ACTIVE")
            device.state = state;
        device.is_ethernet |= first_line(port / "link_layer") == "Ethernet";
    }
}

// The interfaces of the GIDs. Soft-RoCE tells its interface, and its table of 1,024 GIDs takes a quarter of a second in an
// emulated guest.
std::vector<std::string> netdevs_of(const fs::path& path, const RdmaDevice& device) {
    std::vector<std::string> netdevs{first_line(path / "parent")};
    if (netdevs.front().empty())
        for (const fs::path& port : entries_of(path / "ports"))
            for (const fs::path& gid : entries_of(port / "gid_attrs/ndevs"))
                netdevs.push_back(first_line(gid));  // an unused index cannot be read
    if (!device.is_software())
        for (const fs::path& netdev : entries_of(path / "device/net"))
            netdevs.push_back(netdev.filename());
    std::ranges::sort(netdevs);
    netdevs.erase(std::unique(netdevs.begin(), netdevs.end()), netdevs.end());
    std::erase(netdevs, "");
    return netdevs;
}

RdmaDevice device_at(const fs::path& path) {
    RdmaDevice device;
    device.name = path.filename();
    device.node_guid = first_line(path / "node_guid");
    device.driver = driver_of(path);
    device.is_iwarp = after_number(first_line(path / "node_type")) == "RNIC";
    look_at_ports(path, device);
    device.netdevs = netdevs_of(path, device);
    return device;
}

}  // namespace

std::vector<RdmaDevice> rdma_devices(const fs::path& sysfs) {
    std::vector<RdmaDevice> devices;
    for (const fs::path& path : entries_of(sysfs / "class/infiniband"))
        devices.push_back(device_at(path));
    return devices;
}

std::vector<std::string> offloading(const std::vector<RdmaDevice>& devices,
                                    std::string_view interface) {
    std::vector<std::string> names;
    for (const RdmaDevice& device : devices)
        if (device.offloads_roce() &&
            (interface == "any" ||
             std::ranges::find(device.netdevs, interface) != device.netdevs.end()))
            names.push_back(device.name);
    return names;
}

std::optional<std::string> offload_warning(const std::vector<RdmaDevice>& devices,
                                           std::string_view interface) {
    const auto names = offloading(devices, interface);
    if (names.empty())
        return std::nullopt;
    return fmt::format("RoCE that {} handles in hardware does not appear on {}: try '-i {}'.",
                       fmt::join(names, ", "), interface, names.front());
}

std::string not_sniffable(const RdmaDevice& device) {
    if (!device.offloads_roce() && !device.netdevs.empty())
        return fmt::format("{} is an RDMA device, and its packets pass {}: try '-i {}'.",
                           device.name, fmt::join(device.netdevs, ", "), device.netdevs.front());
    return fmt::format(
        "cannot capture on the RDMA device {}: this libpcap has no RDMA sniffing. Use a libpcap "
        "built with it (--enable-rdma), capture on the other host, or mirror the switch's port.",
        device.name);
}

}  // namespace capture
