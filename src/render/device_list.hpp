// What can be captured on, as a table and as JSON: rocecap live --list.
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
    std::set<std::string> libpcap_names;  // what libpcap opens

    /// This machine's. Throws util::Error.
    static DeviceList gather();

    /// A table; no line is longer than 100 columns, but for a word that is.
    std::string text() const;
    /// An object a line. Interfaces: name type kind up addresses offloaded_to. RDMA devices: name
    /// type state node_guid driver netdevs roce_offloaded sniffable (by this libpcap).
    std::string json() const;
};

}  // namespace render
