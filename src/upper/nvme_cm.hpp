// Private data of the connection manager's messages for NVMe over RDMA (NVM Express RDMA Transport
// Specification 1.0, 3.2; Linux include/linux/nvme-rdma.h). Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/cursor.hpp"

namespace upper {

/// In a ConnectRequest.
struct NvmeCmRequest {
    static constexpr std::size_t size = 32;

    std::uint16_t record_format = 0;
    std::uint16_t queue_id = 0;
    std::uint16_t host_receive_size = 0;  ///< number of entries of the host's receive queue
    std::uint16_t host_send_size = 0;     ///< the same for its send queue, minus one
    std::uint16_t controller_id = 0;      ///< for an I/O queue, from record format 1 on

    static NvmeCmRequest parse(util::FixedBytes<size> bytes);
};

/// In a ConnectReply.
struct NvmeCmReply {
    static constexpr std::size_t size = 32;

    std::uint16_t record_format = 0;
    std::uint16_t controller_receive_size = 0;  ///< entries of the controller's receive queue

    static NvmeCmReply parse(util::FixedBytes<size> bytes);
};

/// In a ConnectReject.
struct NvmeCmReject {
    static constexpr std::size_t size = 4;

    std::uint16_t record_format = 0;
    std::uint16_t status = 0;

    /// "Invalid HSQSIZE", ...; empty for a code without a name.
    std::string_view status_name() const;
    static NvmeCmReject parse(util::FixedBytes<size> bytes);
};

}  // namespace upper
