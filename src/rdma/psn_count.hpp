// Number of PSNs that a work request uses (IBTA volume 1, 9.7.2 and 9.7.3.1).
#pragma once

#include <algorithm>
#include <cstdint>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"

namespace rdma {

constexpr std::uint32_t psn_mask = 0xffffff;  // a PSN has 24 bits

/// One PSN per packet, that is max(1, ceil(length / path MTU)); a READ uses one per response
/// packet, an atomic or a FLUSH exactly one. 0 for a local operation. `length` and `path_mtu` are in
/// bytes; `path_mtu` must not be 0.
constexpr std::uint32_t psn_count(ibv_wr_opcode opcode, std::uint64_t length, unsigned path_mtu) {
    if (opcode == wr_flush)
        return 1;
    switch (opcode) {
        case IBV_WR_LOCAL_INV:
        case IBV_WR_BIND_MW:
            return 0;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            return 1;
        default:
            return static_cast<std::uint32_t>(
                       std::max<std::uint64_t>(1, (length + path_mtu - 1) / path_mtu)) &
                   psn_mask;
    }
}

}  // namespace rdma
