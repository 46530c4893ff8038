// Which fields are valid for a work request's opcode. The opcode is the number that the program
// passed, which an ibv_wr_opcode may be unable to hold.
#pragma once

#include <cstdint>
#include <string_view>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"

namespace tracelog {

constexpr bool has_immediate(std::uint32_t opcode) {
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}
constexpr bool invalidates(std::uint32_t opcode) {
    return opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV;
}
constexpr bool is_one_sided(std::uint32_t opcode) {
    return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
           opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_WRITE || opcode == rdma::wr_flush;
}
constexpr bool is_atomic(std::uint32_t opcode) {
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

}  // namespace tracelog
