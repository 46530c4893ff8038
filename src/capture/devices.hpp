// The devices that can be captured on, as listed by libpcap.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace capture {

struct Interface {
    std::string name;  // "eth0"; "any" for all
    std::string kind;  // "Ethernet", "loopback"
    bool is_up = false;
    std::vector<std::string> addresses;  // IPv4, then IPv6
};

/// The network interfaces that libpcap captures on. Its other devices (USB, Bluetooth, D-Bus) have
/// no RoCE. Throws util::Error.
std::vector<Interface> interfaces();

/// All names that libpcap opens, including RDMA devices if it was built with RDMA sniffing. Throws
/// util::Error.
std::set<std::string> libpcap_names();

/// Names of the network interfaces of this host, and "any".
std::set<std::string> interface_names();

}  // namespace capture
