// Capture devices as a table and as JSON: rocecap live --list.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "capture/devices.hpp"
#include "capture/rdma_devices.hpp"

namespace render {

struct DeviceList {
    std::vector<capture::Interface> interfaces;
    std::vector<capture::RdmaDevice> rdma_devices;
    std::set<std::string> libpcap_names;  // devices that libpcap can open

    /// Lists this machine's devices. Throws util::Error.
    static DeviceList gather();

    /// A table. Lines have at most 100 columns, unless a single word is longer.
    std::string text() const;
    /// One object per line. Interfaces: name type kind up addresses offloaded_to. RDMA devices:
    /// name type state node_guid driver netdevs roce_offloaded sniffable (by this libpcap).
    std::string json() const;
};

}  // namespace render
