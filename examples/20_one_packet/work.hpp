// What both sides know of an exercise: a number of messages of one operation, posted together.
#pragma once

#include <cstring>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/rc_connection.hpp"
#include "protocol.hpp"
#include "rdma/completion.hpp"
#include "rdma/describe.hpp"

namespace lesson20 {

constexpr std::uint8_t reads_at_once = 4;
constexpr int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// Returns an sge for message `number`'s part of `mr`, from 0.
inline ibv_sge sge_of(const ibv_mr& mr, const Plan& plan, std::uint64_t number) {
    return {.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + number * plan.size,
            .length = static_cast<std::uint32_t>(plan.size),
            .lkey = mr.lkey};
}

}  // namespace lesson20
