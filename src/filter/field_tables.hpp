// The parts of the field table, for field.cpp only.
#pragma once

#include <span>

#include "filter/field.hpp"

namespace filter {

std::span<const Field> frame_fields();          ///< capture, link, network and UDP
std::span<const Field> outer_fields();          ///< encapsulations, MAC control
std::span<const Field> transport_fields();      ///< BTH to the last extension header
std::span<const Field> cm_fields();             ///< management datagrams
std::span<const Field> upper_problem_fields();  ///< why the upper layer is not decoded
std::span<const Field> nvme_fields();           ///< NVMe over RDMA
std::span<const Field> upper_fields();          ///< RPC over RDMA, NFS, iSER
std::span<const Field> outcome_fields();        ///< ICRC, and the result of decoding

/// Wireshark's names that have another meaning here, or apply to only some packets.
std::span<const Field> wireshark_fields();

}  // namespace filter
