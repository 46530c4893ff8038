#include "upper/iser.hpp"

#include "util/names.hpp"

namespace upper {

std::string_view IscsiBhs::name() const {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x00, "NOP-Out"},
        {0x01, "SCSI Command"},
        {0x02, "Task Management Request"},
        {0x03, "Login Request"},
        {0x04, "Text Request"},
        {0x05, "Data-Out"},
        {0x06, "Logout Request"},
        {0x10, "SNACK Request"},
        {0x20, "NOP-In"},
        {0x21, "SCSI Response"},
        {0x22, "Task Management Response"},
        {0x23, "Login Response"},
        {0x24, "Text Response"},
        {0x25, "Data-In"},
        {0x26, "Logout Response"},
        {0x31, "Ready To Transfer"},
        {0x32, "Asynchronous Message"},
        {0x3f, "Reject"},
    });
    return util::name_in(names, opcode);
}

std::string_view IscsiBhs::scsi_name() const {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x00, "TEST UNIT READY"},
        {0x03, "REQUEST SENSE"},
        {0x08, "READ(6)"},
        {0x0a, "WRITE(6)"},
        {0x12, "INQUIRY"},
        {0x1a, "MODE SENSE(6)"},
        {0x25, "READ CAPACITY(10)"},
        {0x28, "READ(10)"},
        {0x2a, "WRITE(10)"},
        {0x35, "SYNCHRONIZE CACHE(10)"},
        {0x41, "WRITE SAME(10)"},
        {0x42, "UNMAP"},
        {0x88, "READ(16)"},
        {0x8a, "WRITE(16)"},
        {0x93, "WRITE SAME(16)"},
        {0x9e, "SERVICE ACTION IN(16)"},
        {0xa0, "REPORT LUNS"},
        {0xa3, "MAINTENANCE IN"},
    });
    return util::name_in(names, scsi_opcode.value_or(UINT8_MAX));
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
