// Finds problems of this host's RDMA set-up, and the command that fixes each.
//
// gather() reads the host, diagnose() is a pure function, so that every verdict can be tested
// without breaking a machine.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdma/device.hpp"
#include "runlog/event.hpp"
#include "util/address.hpp"

namespace rdma {

struct PortFacts {
    std::string device;
    std::uint8_t port = 1;
    ibv_port_state state = IBV_PORT_NOP;
    bool is_ethernet = true;
    unsigned path_mtu = 0;  // bytes
    std::string netdev;     // empty: none
    unsigned netdev_mtu = 0;
    bool netdev_up = false;
    std::string default_roce_mode;  // of rdma_cm, from configfs; empty: unknown
    std::vector<Gid> gids;
};

/// An interface of the network namespace.
struct NetdevFacts {
    std::string name;
    bool is_up = false;
    bool has_device = false;   // backed by hardware or a virtual device
    bool is_ethernet = false;  // with an Ethernet address, which RoCE needs
    bool is_loopback = false;
    std::string below;                   // of a VLAN: the interface that carries it
    std::vector<std::string> addresses;  // numeric
};

struct HostFacts {
    std::string kernel;               // uname -r
    std::vector<std::string> os_ids;  // ID and ID_LIKE of os-release(5); empty: unknown
    bool is_root = false;
    bool rxe_loaded = false;
    bool rxe_available = false;                        // the kernel's modules include rdma_rxe
    bool rxe_modules_known = false;                    // /lib/modules/<kernel> was readable
    std::vector<NetdevFacts> netdevs;                  // empty: unknown
    std::vector<std::string> kernel_devices;           // /sys/class/infiniband
    std::vector<std::string> verbs_devices;            // as listed by libibverbs
    std::vector<std::string> opened_devices;           // those of them that can be opened
    std::map<std::string, std::string> missing_nodes;  // by device: "/dev/infiniband/uverbs1"
    bool uverbs_node = false;                          // /dev/infiniband/uverbs* exists
    bool uverbs_access = false;                        // and may be opened
    bool rdma_cm_node = false;
    bool rdma_cm_access = false;
    std::optional<std::uint64_t> memlock;  // bytes; nullopt: unlimited
    std::vector<PortFacts> ports;
};

enum class Verdict { good, advice, wrong };

struct Finding {
    Verdict verdict;
    std::string what;
    std::string fix;  // a command or a sentence; empty if no fix is needed
};

/// Never throws for a broken set-up.
HostFacts gather();

/// ID, then the words of ID_LIKE, of the text of an os-release(5) file.
std::vector<std::string> os_ids(std::istream& os_release);

/// `address`: the one to use; if absent, the GID tables must only have any RoCE v2 entry.
std::vector<Finding> diagnose(const HostFacts& host, const std::optional<util::Address>& address);

/// A run log "check" event.
runlog::Fields describe(const Finding& finding);

}  // namespace rdma
