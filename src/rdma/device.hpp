// RDMA devices, their ports and GIDs, and the choice of a GID.
//
// Never use a constant GID index: the order of the table depends on the driver and on when
// addresses were added. Choose the entry by its properties: RoCE v2, and the IP address in use. Two
// ends with different GID types cannot communicate. Source: ibv_query_gid_table(3).
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
    std::string netdev() const;  // "eth0"; empty if there is none
    /// The IP address of a RoCE GID. Link-local addresses have their interface as scope.
    util::Address address() const;
};

/// Names of this host's RDMA devices; empty if there are none.
std::vector<std::string> device_names();

/// Throws util::Error that lists the existing devices.
Context open_device(const std::string& name);

/// All valid entries of all ports, in the table's order.
std::vector<Gid> gid_table(ibv_context* context);

/// Returns the RoCE v2 entry of `address`. Throws util::Error that lists the table if there is
/// none.
Gid choose_gid(ibv_context* context, const util::Address& address);

/// Returns the entry with this index on `port`. Throws util::Error that lists the table if there is
/// none.
Gid gid_at(ibv_context* context, std::uint8_t port, std::uint32_t index);

/// Returns the entry that a connected QP uses.
Gid gid_of(ibv_qp* qp);

/// An open device and its GID entry for an address of this host.
struct DevicePort {
    Context context;
    Gid gid;
};
/// Opens the device that has `address` in its RoCE v2 GIDs. Throws util::Error that lists the
/// devices.
DevicePort open_device_of(const util::Address& address);

ibv_port_attr query_port(ibv_context* context, std::uint8_t port);

/// A run log "device" event: device, port, state, path MTU and, if given, the GID in use.
runlog::Fields describe_device(ibv_context* context, std::uint8_t port, const Gid* gid);

}  // namespace rdma
