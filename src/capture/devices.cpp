#include "capture/devices.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include <fmt/format.h>
#include <pcap/pcap.h>

#include "util/address.hpp"
#include "util/error.hpp"

namespace capture {
namespace {

struct FreeList {
    void operator()(pcap_if_t* list) const { pcap_freealldevs(list); }
};
using List = std::unique_ptr<pcap_if_t, FreeList>;

List all_devices() {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    pcap_if_t* devices = nullptr;
    if (pcap_findalldevs(&devices, why.data()) != 0)
        throw util::Error(fmt::format("cannot list the capture devices: {}.", why.data()));
    return List(devices);
}

std::string kind_name(unsigned hardware) {
    switch (hardware) {
        case ARPHRD_ETHER:
            return "Ethernet";
        case ARPHRD_LOOPBACK:
            return "loopback";
        case ARPHRD_INFINIBAND:
            return "InfiniBand";
        case ARPHRD_NONE:
        case ARPHRD_TUNNEL:
        case ARPHRD_TUNNEL6:
            return "IP tunnel";
        default:
            return fmt::format("type {}", hardware);
    }
}

void add_addresses(Interface& interface, const pcap_if_t& device, int family) {
    for (const pcap_addr* entry = device.addresses; entry != nullptr; entry = entry->next)
        if (entry->addr != nullptr && entry->addr->sa_family == family)
            interface.addresses.push_back(util::Address(entry->addr).host());
}

Interface interface_of(const pcap_if_t& device) {
    Interface interface;
    interface.name = device.name;
    interface.is_up = (device.flags & PCAP_IF_UP) != 0;
    for (const pcap_addr* entry = device.addresses; entry != nullptr; entry = entry->next)
        if (entry->addr != nullptr && entry->addr->sa_family == AF_PACKET)
            interface.kind =
                kind_name(reinterpret_cast<const sockaddr_ll*>(entry->addr)->sll_hatype);
    if (interface.name == "any") {
        interface.kind = "all interfaces";
        interface.is_up = true;
    }
    add_addresses(interface, device, AF_INET);
    add_addresses(interface, device, AF_INET6);
    return interface;
}

}  // namespace

std::vector<Interface> interfaces() {
    const auto names = interface_names();
    const List devices = all_devices();
    std::vector<Interface> found;
    for (const auto* device = devices.get(); device != nullptr; device = device->next)
        if (names.contains(device->name))
            found.push_back(interface_of(*device));
    return found;
}

std::set<std::string> libpcap_names() {
    const List devices = all_devices();
    std::set<std::string> names;
    for (const auto* device = devices.get(); device != nullptr; device = device->next)
        names.insert(device->name);
    return names;
}

std::set<std::string> interface_names() {
    std::set<std::string> names{"any"};
    const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> list(
        if_nameindex(), if_freenameindex);
    for (const auto* entry = list.get(); entry != nullptr && entry->if_name != nullptr; ++entry)
        names.insert(entry->if_name);
    return names;
}

}  // namespace capture
