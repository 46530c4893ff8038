// The devices that can be captured on, as libpcap lists them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace capture {

struct Interface {
    std::string name;  // "eth0"; "any" for all of them
    std::string kind;  // "Ethernet", "loopback"
    bool is_up = false;
    std::vector<std::string> addresses;  // IPv4, then IPv6
};

/// The network interfaces that libpcap captures on; what else it offers (USB, Bluetooth, D-Bus) has
/// no RoCE. Throws util::Error.
std::vector<Interface> interfaces();

/// Every name that libpcap opens, RDMA devices among them where it was built with RDMA sniffing.
/// Throws util::Error.
std::set<std::string> libpcap_names();

/// The names of the network interfaces here, and "any".
std::set<std::string> interface_names();

}  // namespace capture
