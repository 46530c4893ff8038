// Names of enumerators and addresses in the log that src/rdma does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracelog {

/// ibv_wr_opcode without IBV_WR_: "RDMA_WRITE". "UNKNOWN" for a number that the type cannot hold.
std::string_view opcode_name(std::uint32_t opcode);
/// ibv_send_flags without IBV_SEND_: "SIGNALED INLINE". Flags without a name are left out.
std::string_view send_flag_names(std::uint32_t flags);
/// rdma_cm_event_type without RDMA_CM_EVENT_: "CONNECT_REQUEST".
std::string_view cm_event_name(unsigned type);
/// "ENOMEM"; "error 4711" if there is no name.
std::string error_name(int error);
/// A sockaddr_in or sockaddr_in6 as "192.0.2.1 port 18515"; empty for any other address.
std::string address_text(std::span<const std::byte> address);

}  // namespace tracelog
