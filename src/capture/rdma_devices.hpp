// The RDMA devices of this machine as the kernel lists them, and what they mean for a capture: RoCE
// that a device handles in hardware passes the network interface unseen.
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
    std::string state;                 // "ACTIVE" where one port is, otherwise the first port's
    std::string node_guid;             // "0c42:a103:0065:bc1e"
    std::string driver;                // "mlx5_core"; empty: a device in software (rxe, siw)
    std::vector<std::string> netdevs;  // sorted
    bool is_iwarp = false;             // RDMA over TCP, which is no RoCE
    bool is_ethernet = false;          // a port of it is: RoCE, not InfiniBand

    bool is_software() const { return driver.empty(); }
    /// Its RoCE packets do not pass the kernel.
    bool offloads_roce() const { return !is_software() && !is_iwarp && is_ethernet; }
};

/// Sorted by name; empty where there are none.
std::vector<RdmaDevice> rdma_devices(const std::filesystem::path& sysfs = "/sys");

/// The names of those that handle RoCE in hardware for `interface`; for "any", of all.
std::vector<std::string> offloading(const std::vector<RdmaDevice>& devices,
                                    std::string_view interface);

/// What to know before capturing on `interface`, a sentence; nullopt: nothing.
std::optional<std::string> offload_warning(const std::vector<RdmaDevice>& devices,
                                           std::string_view interface);

/// Why `device` cannot be captured on by a libpcap that does not know it, and what to try.
std::string not_sniffable(const RdmaDevice& device);

}  // namespace capture
