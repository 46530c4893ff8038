#include "upper/iser.hpp"

namespace upper {

std::string_view IscsiBhs::name() const {
    switch (opcode) {
        case 0x00:
            return "NOP-Out";
        case 0x01:
            return "SCSI Command";
        case 0x02:
            return "Task Management Request";
        case 0x03:
            return "Login Request";
        case 0x04:
            return "Text Request";
        case 0x05:
            return "Data-Out";
        case 0x06:
            return "Logout Request";
        case 0x10:
            return "SNACK Request";
        case 0x20:
            return "NOP-In";
        case 0x21:
            return "SCSI Response";
        case 0x22:
            return "Task Management Response";
        case 0x23:
            return "Login Response";
        case 0x24:
            return "Text Response";
        case 0x25:
            return "Data-In";
        case 0x26:
            return "Logout Response";
        case 0x31:
            return "Ready To Transfer";
        case 0x32:
            return "Asynchronous Message";
        case 0x3f:
            return "Reject";
        default:
            return {};
    }
}

std::string_view IscsiBhs::scsi_name() const {
    switch (scsi_opcode.value_or(UINT8_MAX)) {
        case 0x00:
            return "TEST UNIT READY";
        case 0x03:
            return "REQUEST SENSE";
        case 0x08:
            return "READ(6)";
        case 0x0a:
            return "WRITE(6)";
        case 0x12:
            return "INQUIRY";
        case 0x1a:
            return "MODE SENSE(6)";
        case 0x25:
            return "READ CAPACITY(10)";
        case 0x28:
            return "READ(10)";
        case 0x2a:
            return "WRITE(10)";
        case 0x35:
            return "SYNCHRONIZE CACHE(10)";
        case 0x41:
            return "WRITE SAME(10)";
        case 0x42:
            return "UNMAP";
        case 0x88:
            return "READ(16)";
        case 0x8a:
            return "WRITE(16)";
        case 0x93:
            return "WRITE SAME(16)";
        case 0x9e:
            return "SERVICE ACTION IN(16)";
        case 0xa0:
            return "REPORT LUNS";
        case 0xa3:
            return "MAINTENANCE IN";
        default:
            return {};
    }
}

IscsiBhs IscsiBhs::parse(util::FixedBytes<size> bytes) {
    constexpr std::uint8_t scsi_command = 0x01;
    const std::uint8_t first = util::be8<0>(bytes);
    IscsiBhs bhs{.opcode = util::bits<0, 6>(first),
                 .data_segment_length = util::be24<5>(bytes),
                 .initiator_task_tag = util::be32<16>(bytes),
                 .scsi_opcode = std::nullopt};
    if (bhs.opcode == scsi_command)
        bhs.scsi_opcode = util::be8<32>(bytes);
    return bhs;
}

Iser Iser::parse(util::FixedBytes<size> bytes, util::Bytes rest) {
    constexpr std::uint8_t control_type = 1;
    Iser iser{.flags = util::be8<0>(bytes),
              .write_stag = util::be32<4>(bytes),
              .write_offset = util::be64<8>(bytes),
              .read_stag = util::be32<16>(bytes),
              .read_offset = util::be64<20>(bytes),
              .bhs = std::nullopt};
    util::Cursor cursor(rest);
    if (iser.opcode() == control_type)
        if (const auto bhs = cursor.take<IscsiBhs::size>())
            iser.bhs = IscsiBhs::parse(*bhs);
    return iser;
}

}  // namespace upper
