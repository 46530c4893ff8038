// RDMA devices, their ports and GIDs, and which GID to use.
//
// A GID index is never a constant: the table's order depends on the driver, on the addresses and on
// when they came. The entry is chosen by what it is: RoCE v2, and the IP address in use. Two ends
// with different GID types never hear each other. Source: ibv_query_gid_table(3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "rdma/handles.hpp"
#include "runlog/event.hpp"
#include "util/address.hpp"

namespace rdma {

struct Gid {
    std::uint32_t index = 0;
    std::uint8_t port = 1;
    ibv_gid_type type = IBV_GID_TYPE_IB;
    ibv_gid raw{};              // 16 bytes in network order
    unsigned netdev_index = 0;  // 0: none

    std::string text() const;    // "::ffff:192.0.2.1"
    std::string netdev() const;  // "eth0"; empty where there is none
    /// The IP address a RoCE GID stands for. Link-local ones carry their interface as scope.
    util::Address address() const;
};

/// The names of this host's RDMA devices; empty where there is none.
std::vector<std::string> device_names();

/// Throws util::Error naming the devices that do exist.
Context open_device(const std::string& name);

/// All valid entries of all ports, in the table's order.
std::vector<Gid> gid_table(ibv_context* context);

/// The RoCE v2 entry of `address`. Throws util::Error listing the table when there is none.
Gid choose_gid(ibv_context* context, const util::Address& address);

/// The entry with this index on `port`. Throws util::Error listing the table when there is none.
Gid gid_at(ibv_context* context, std::uint8_t port, std::uint32_t index);

/// The entry a connected QP uses, whoever chose it.
Gid gid_of(ibv_qp* qp);

/// An open device, and its entry for an address of this host.
struct DevicePort {
    Context context;
    Gid gid;
};
/// The device whose RoCE v2 GIDs have `address`. Throws util::Error listing what devices there are.
DevicePort open_device_of(const util::Address& address);

ibv_port_attr query_port(ibv_context* context, std::uint8_t port);

/// A run log "device" event: device, port, state, path MTU and, where given, the GID in use.
runlog::Fields describe_device(ibv_context* context, std::uint8_t port, const Gid* gid);

}  // namespace rdma
