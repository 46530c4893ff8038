// iSCSI Extensions for RDMA (RFC 7145): the header of a SEND, and the iSCSI header after it (RFC
// 7143). Big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"

namespace upper {

/// The start of an iSCSI basic header segment.
struct IscsiBhs {
    static constexpr std::size_t size = 48;

    std::uint8_t opcode = 0;                ///< 6 bits
    std::uint32_t data_segment_length = 0;  ///< bytes, 24 bits
    std::uint32_t initiator_task_tag = 0;
    std::optional<std::uint8_t> scsi_opcode;  ///< SCSI Command only: first CDB byte

    /// "SCSI Command", "Login Response", ...; empty for a code without a name.
    std::string_view name() const;
    /// "READ(10)", "INQUIRY", ...; empty for any other.
    std::string_view scsi_name() const;

    static IscsiBhs parse(util::FixedBytes<size> bytes);
};

struct Iser {
    static constexpr std::size_t size = 28;

    std::uint8_t flags = 0;
    std::uint32_t write_stag = 0;  ///< rkey of the memory that the target reads
    std::uint64_t write_offset = 0;
    std::uint32_t read_stag = 0;  ///< rkey of the memory that the target writes
    std::uint64_t read_offset = 0;
    std::optional<IscsiBhs> bhs;  ///< control-type messages only; nullopt if cut

    std::uint8_t opcode() const { return util::bits<4, 4>(flags); }  ///< 1: control-type
    bool has_write_stag() const { return (flags & 8U) != 0; }
    bool has_read_stag() const { return (flags & 4U) != 0; }

    /// `rest`: the bytes captured after the header.
    static Iser parse(util::FixedBytes<size> bytes, util::Bytes rest);
};

/// Private data of a ConnectRequest or ConnectReply.
struct IserCm {
    static constexpr std::size_t size = 4;

    std::uint8_t flags = 0;

    bool no_zero_based_address() const { return (flags & 0x80U) != 0; }
    bool no_remote_invalidation() const { return (flags & 0x40U) != 0; }

    static IserCm parse(util::FixedBytes<size> bytes) { return {util::be8<0>(bytes)}; }
};

}  // namespace upper
