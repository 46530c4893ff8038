// A simulated /sys that lists RDMA devices like the kernels of other machines.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temp_path.hpp"

namespace support {

class PretendSysfs {
  public:
    const std::filesystem::path& root() const { return root_; }

    struct Device {
        std::string driver{};  // empty: none
        std::string node_type = "1: CA";
        std::string link_layer = "Ethernet";
        std::vector<std::string> states{"4: ACTIVE"};  // one per port
        std::vector<std::string> gid_netdevs{};        // for each port's GID table
        std::string device_netdev{};
        std::string parent{};
    };
    void add(const std::string& name, const Device& device) const {
        const auto path = root_ / "class/infiniband" / name;
        write(path / "node_type", device.node_type);
        write(path / "node_guid", "5054:00ff:fe12:3456");
        for (std::size_t port = 0; port < device.states.size(); ++port) {
            const auto folder = path / "ports" / std::to_string(port + 1);
            write(folder / "state", device.states[port]);
            write(folder / "link_layer", device.link_layer);
            for (std::size_t gid = 0; gid < device.gid_netdevs.size(); ++gid)
                write(folder / "gid_attrs/ndevs" / std::to_string(gid), device.gid_netdevs[gid]);
        }
        if (!device.parent.empty())
            write(path / "parent", device.parent);
        if (device.driver.empty())
            return;
        std::filesystem::create_directories(path / "device/net" / device.device_netdev);
        std::filesystem::create_symlink("../../../bus/pci/drivers/" + device.driver,
                                        path / "device/driver");
    }

  private:
    static void write(const std::filesystem::path& path, const std::string& line) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << line << '\n';
    }

    TempPath temp_{"sysfs"};
    std::filesystem::path root_ = temp_.str();
};

}  // namespace support
