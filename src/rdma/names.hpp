// Names of the verbs enumerations, as in the man pages without their prefix: IBV_WC_REM_ACCESS_ERR
// is "REM_ACCESS_ERR".
#pragma once

#include <string>
#include <string_view>

#include <infiniband/verbs.h>

namespace rdma {

/// Enumerators that the headers of Debian 12 lack, with the values of newer ones.
constexpr auto wr_flush = static_cast<ibv_wr_opcode>(14);
constexpr auto wc_flush = static_cast<ibv_wc_opcode>(8);
constexpr unsigned access_flush_global = 1U << 8U;
constexpr unsigned access_flush_persistent = 1U << 9U;

std::string_view name_of(ibv_qp_state state);
std::string_view name_of(ibv_qp_type type);
std::string_view name_of(ibv_port_state state);
std::string_view name_of(ibv_wr_opcode opcode);
std::string_view name_of(ibv_wc_opcode opcode);
std::string_view name_of(ibv_wc_status status);
std::string_view name_of(ibv_atomic_cap capability);
std::string_view name_of(ibv_event_type event);

/// "RoCE v2", "RoCE v1", "InfiniBand".
std::string_view name_of(ibv_gid_type type);

/// "local_write remote_write", or "local_read" if no bit is set (reading is always allowed).
std::string access_names(unsigned access);

/// The path MTU in bytes: 256 to 4096; 0 for any other value.
constexpr unsigned bytes_of(ibv_mtu mtu) {
    // enum ibv_mtu numbers the powers of two from IBV_MTU_256 = 1 (ibv_query_port(3)).
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << static_cast<unsigned>(mtu) : 0;
}

/// The reverse. Throws util::Error if `bytes` is none of the five.
ibv_mtu mtu_of(unsigned bytes);

}  // namespace rdma
