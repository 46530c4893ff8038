// NVMe over RDMA: the capsules that SENDs carry (NVM Express over Fabrics 1.1, 2 and 3; NVM Express
// Base Specification 1.4, 4.2 and 4.6). Integers are little-endian on the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"

namespace upper {

/// Scatter/gather list descriptor: the location of a command's data.
struct NvmeSgl {
    static constexpr std::size_t size = 16;

    std::uint8_t type = 0;  ///< 4 bits: 0 data block, 4 keyed data block
    std::uint8_t subtype =
        0;  ///< 4 bits: 0 address, 1 offset in the capsule, 15 invalidate the key
    std::uint64_t address = 0;
    std::uint32_t length = 0;          ///< bytes; 24 bits if there is a key
    std::optional<std::uint32_t> key;  ///< keyed data block only: the rkey

    static NvmeSgl parse(util::FixedBytes<size> bytes);
    friend bool operator==(const NvmeSgl&, const NvmeSgl&) = default;
};

/// The Fabrics Connect command.
struct NvmeConnect {
    std::uint16_t record_format = 0;
    std::uint16_t queue_id = 0;
    std::uint16_t sq_size = 0;  ///< number of entries minus one
    std::uint8_t attributes = 0;
    std::uint32_t keep_alive_ms = 0;

    friend bool operator==(const NvmeConnect&, const NvmeConnect&) = default;
};

/// The Fabrics Property Get and Property Set commands.
struct NvmeProperty {
    std::uint8_t size_code = 0;  ///< 3 bits: 0 four bytes, 1 eight bytes
    std::uint32_t offset = 0;

    /// "CAP", "VS", "CC", "CSTS", "NSSR"; empty for any other offset.
    std::string_view name() const;
    friend bool operator==(const NvmeProperty&, const NvmeProperty&) = default;
};

/// A command capsule. Data may follow it in the SEND and is not decoded.
struct NvmeCommand {
    static constexpr std::size_t size = 64;
    static constexpr std::uint8_t fabrics = 0x7f;

    std::optional<std::uint16_t> queue_id;  ///< of the connection, if known
    std::uint8_t opcode = 0;
    std::uint8_t fuse = 0;  ///< 2 bits
    std::uint8_t psdt = 0;  ///< 2 bits: 1 and 2 for a scatter/gather list
    std::uint16_t cid = 0;
    std::optional<std::uint32_t> nsid;    ///< except Fabrics commands
    std::optional<std::uint8_t> fctype;   ///< Fabrics commands only: the command
    std::optional<NvmeSgl> sgl1;          ///< commands that transfer data, or may
    std::optional<std::uint64_t> slba;    ///< I/O commands with a range of blocks
    std::optional<std::uint32_t> blocks;  ///< number of these blocks, 1 to 65536
    std::optional<NvmeConnect> connect;
    std::optional<NvmeProperty> property;

    /// "Read", "Identify", "Connect", "Property Get"; empty for an opcode without a name.
    std::string_view name() const;

    static NvmeCommand parse(std::optional<std::uint16_t> queue_id, util::FixedBytes<size> bytes);
};

/// A response capsule.
struct NvmeResponse {
    static constexpr std::size_t size = 16;

    std::optional<std::uint16_t> queue_id;  ///< of the connection, if known
    std::uint16_t sq_head = 0;
    std::uint16_t sq_id = 0;
    std::uint16_t cid = 0;
    std::uint16_t status = 0;  ///< the whole field

    std::uint8_t status_code() const { return static_cast<std::uint8_t>(status >> 1 & 0xffU); }
    std::uint8_t status_code_type() const { return static_cast<std::uint8_t>(status >> 9 & 7U); }
    bool do_not_retry() const { return (status >> 15 & 1U) != 0; }
    /// "Successful Completion", "Invalid Field in Command", ...; empty for a code without a name.
    std::string_view status_name() const;

    static NvmeResponse parse(std::optional<std::uint16_t> queue_id, util::FixedBytes<size> bytes);
};

/// Private data of a ConnectRequest (NVM Express RDMA Transport Specification 1.0, 3.2; Linux
/// include/linux/nvme-rdma.h).
struct NvmeCmRequest {
    static constexpr std::size_t size = 32;

    std::uint16_t record_format = 0;
    std::uint16_t queue_id = 0;
    std::uint16_t host_receive_size = 0;  ///< number of entries of the host's receive queue
    std::uint16_t host_send_size = 0;     ///< the same for its send queue, minus one
    std::uint16_t controller_id = 0;      ///< for an I/O queue, from record format 1 on

    static NvmeCmRequest parse(util::FixedBytes<size> bytes);
};

/// Private data of a ConnectReply.
struct NvmeCmReply {
    static constexpr std::size_t size = 32;

    std::uint16_t record_format = 0;
    std::uint16_t controller_receive_size = 0;  ///< entries of the controller's receive queue

    static NvmeCmReply parse(util::FixedBytes<size> bytes);
};

/// Private data of a ConnectReject.
struct NvmeCmReject {
    static constexpr std::size_t size = 4;

    std::uint16_t record_format = 0;
    std::uint16_t status = 0;

    /// "Invalid HSQSIZE", ...; empty for a code without a name.
    std::string_view status_name() const;
    static NvmeCmReject parse(util::FixedBytes<size> bytes);
};

}  // namespace upper
