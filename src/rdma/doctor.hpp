// What is wrong with this host's RDMA set-up, and the command that fixes each thing.
//
// gather() looks, diagnose() judges: the second is pure, so that every verdict can be tested
// without breaking a machine.
#pragma once

#include <cstdint>
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
    std::string default_roce_mode;  // of rdma_cm, by configfs; empty: not known
    std::vector<Gid> gids;
};

/// An interface that could carry Soft-RoCE: up, and not the loopback.
struct NetdevFacts {
    std::string name;
    bool has_device = false;             // hardware, or a virtual machine's, behind it
    std::vector<std::string> addresses;  // digits
};

struct HostFacts {
    std::string kernel;  // uname -r
    bool is_root = false;
    bool rxe_loaded = false;
    bool rxe_available = false;      // the kernel's modules hold rdma_rxe
    bool rxe_modules_known = false;  // /lib/modules/<kernel> could be read at all
    std::vector<NetdevFacts> netdevs;
    std::vector<std::string> kernel_devices;  // /sys/class/infiniband
    std::vector<std::string> verbs_devices;   // what libibverbs lists
    bool uverbs_node = false;                 // /dev/infiniband/uverbs* exists
    bool uverbs_access = false;               // and may be opened
    bool rdma_cm_node = false;
    bool rdma_cm_access = false;
    std::optional<std::uint64_t> memlock;  // bytes; nullopt: unlimited
    std::vector<PortFacts> ports;
};

enum class Verdict { good, advice, wrong };

struct Finding {
    Verdict verdict;
    std::string what;
    std::string fix;  // a command, or a sentence; empty where nothing needs a fix
};

/// Never throws for a set-up that is broken: that is what it is for.
HostFacts gather();

/// `address`: the one that is to be used; without one the GID tables are judged for having any RoCE
/// v2 entry.
std::vector<Finding> diagnose(const HostFacts& host, const std::optional<util::Address>& address);

/// A run log "check" event.
runlog::Fields describe(const Finding& finding);

}  // namespace rdma
