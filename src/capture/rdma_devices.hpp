// The RDMA devices of this machine as listed by the kernel, and their effect on a capture: RoCE
// that a device handles in hardware bypasses the network interface.
// Source: Documentation/ABI/stable/sysfs-class-infiniband of the kernel.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capture {

struct RdmaDevice {
    std::string name;                  // "mlx5_0"
    std::string state;                 // "ACTIVE" if one port is, otherwise the first port's
    std::string node_guid;             // "0c42:a103:0065:bc1e"
    std::string driver;                // "mlx5_core"; empty: a software device (rxe, siw)
    std::vector<std::string> netdevs;  // sorted
    bool is_iwarp = false;             // RDMA over TCP, not RoCE
    bool is_ethernet = false;          // one of its ports is: RoCE, not InfiniBand

    bool is_software() const { return driver.empty(); }
    /// Its RoCE packets bypass the kernel.
    bool offloads_roce() const { return !is_software() && !is_iwarp && is_ethernet; }
};

/// Sorted by name; empty if there are none.
std::vector<RdmaDevice> rdma_devices(const std::filesystem::path& sysfs = "/sys");

/// Names of the devices that handle RoCE in hardware for `interface`; for "any", of all such
/// devices.
std::vector<std::string> offloading(const std::vector<RdmaDevice>& devices,
                                    std::string_view interface);

/// A warning for captures on `interface`, one sentence; nullopt: none.
std::optional<std::string> offload_warning(const std::vector<RdmaDevice>& devices,
                                           std::string_view interface);

/// Why a libpcap without RDMA sniffing cannot capture on `device`, and what to try.
std::string not_sniffable(const RdmaDevice& device);

}  // namespace capture
