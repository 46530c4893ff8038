#include "upper/nvme.hpp"

namespace upper {
namespace {

constexpr std::uint8_t property_set = 0x00;
constexpr std::uint8_t connect_command = 0x01;
constexpr std::uint8_t property_get = 0x04;

std::string_view fabrics_name(std::uint8_t fctype) {
    switch (fctype) {
        case property_set:
            return "Property Set";
        case connect_command:
            return "Connect";
        case property_get:
            return "Property Get";
        case 0x05:
            return "Authentication Send";
        case 0x06:
            return "Authentication Receive";
        case 0x08:
            return "Disconnect";
        default:
            return {};
    }
}

// Connect and Authentication; others have reserved bytes in place of the descriptor.
bool transfers_data(std::uint8_t fctype) {
    return fctype == connect_command || fctype == 0x05 || fctype == 0x06;
}

std::string_view admin_name(std::uint8_t opcode) {
    switch (opcode) {
        case 0x00:
            return "Delete I/O Submission Queue";
        case 0x01:
            return "Create I/O Submission Queue";
        case 0x02:
            return "Get Log Page";
        case 0x04:
            return "Delete I/O Completion Queue";
        case 0x05:
            return "Create I/O Completion Queue";
        case 0x06:
            return "Identify";
        case 0x08:
            return "Abort";
        case 0x09:
            return "Set Features";
        case 0x0a:
            return "Get Features";
        case 0x0c:
            return "Asynchronous Event Request";
        case 0x0d:
            return "Namespace Management";
        case 0x10:
            return "Firmware Commit";
        case 0x11:
            return "Firmware Image Download";
        case 0x14:
            return "Device Self-test";
        case 0x15:
            return "Namespace Attachment";
        case 0x18:
            return "Keep Alive";
        case 0x19:
            return "Directive Send";
        case 0x1a:
            return "Directive Receive";
        case 0x80:
            return "Format NVM";
        case 0x81:
            return "Security Send";
        case 0x82:
            return "Security Receive";
        case 0x84:
            return "Sanitize";
        default:
            return {};
    }
}

std::string_view io_name(std::uint8_t opcode) {
    switch (opcode) {
        case 0x00:
            return "Flush";
        case 0x01:
            return "Write";
        case 0x02:
            return "Read";
        case 0x04:
            return "Write Uncorrectable";
        case 0x05:
            return "Compare";
        case 0x08:
            return "Write Zeroes";
        case 0x09:
            return "Dataset Management";
        case 0x0c:
            return "Verify";
        case 0x0d:
            return "Reservation Register";
        case 0x0e:
            return "Reservation Report";
        case 0x11:
            return "Reservation Acquire";
        case 0x15:
            return "Reservation Release";
        default:
            return {};
    }
}

// Write, Read, Write Uncorrectable, Compare, Write Zeroes, Verify: they start with a range of
// blocks.
bool has_range(std::uint8_t opcode) {
    switch (opcode) {
        case 0x01:
        case 0x02:
        case 0x04:
        case 0x05:
        case 0x08:
        case 0x0c:
            return true;
        default:
            return false;
    }
}

void parse_fabrics(NvmeCommand& command, util::FixedBytes<NvmeCommand::size> bytes) {
    const std::uint8_t fctype = util::be8<4>(bytes);
    command.fctype = fctype;
    if (fctype == connect_command)
        command.connect = NvmeConnect{.record_format = util::le16<40>(bytes),
                                      .queue_id = util::le16<42>(bytes),
                                      .sq_size = util::le16<44>(bytes),
                                      .attributes = util::be8<46>(bytes),
                                      .keep_alive_ms = util::le32<48>(bytes)};
    if (fctype == property_get || fctype == property_set)
        command.property = NvmeProperty{.size_code = util::bits<0, 3>(util::be8<40>(bytes)),
                                        .offset = util::le32<44>(bytes)};
}

std::string_view generic_status(std::uint8_t code) {
    switch (code) {
        case 0x00:
            return "Successful Completion";
        case 0x01:
            return "Invalid Command Opcode";
        case 0x02:
            return "Invalid Field in Command";
        case 0x03:
            return "Command ID Conflict";
        case 0x04:
            return "Data Transfer Error";
        case 0x05:
            return "Commands Aborted due to Power Loss Notification";
        case 0x06:
            return "Internal Error";
        case 0x07:
            return "Command Abort Requested";
        case 0x08:
            return "Command Aborted due to SQ Deletion";
        case 0x0b:
            return "Invalid Namespace or Format";
        case 0x0c:
            return "Command Sequence Error";
        case 0x0f:
            return "Data SGL Length Invalid";
        case 0x11:
            return "SGL Descriptor Type Invalid";
        case 0x80:
            return "LBA Out of Range";
        case 0x81:
            return "Capacity Exceeded";
        case 0x82:
            return "Namespace Not Ready";
        case 0x83:
            return "Reservation Conflict";
        default:
            return {};
    }
}

// The meaning of command specific codes depends on the command. These are used by Connect only.
std::string_view command_status(std::uint8_t code) {
    switch (code) {
        case 0x80:
            return "Connect Incompatible Format";
        case 0x81:
            return "Connect Controller Busy";
        case 0x82:
            return "Connect Invalid Parameters";
        case 0x83:
            return "Connect Restart Discovery";
        case 0x84:
            return "Connect Invalid Host";
        default:
            return {};
    }
}

}  // namespace

NvmeSgl NvmeSgl::parse(util::FixedBytes<size> bytes) {
    constexpr std::uint8_t keyed = 4;
    const std::uint8_t identifier = util::be8<15>(bytes);
    NvmeSgl sgl{.type = util::bits<4, 4>(identifier),
                .subtype = util::bits<0, 4>(identifier),
                .address = util::le64<0>(bytes),
                .length = util::le32<8>(bytes),
                .key = std::nullopt};
    if (sgl.type == keyed) {
        sgl.length = util::le24<8>(bytes);
        sgl.key = util::le32<11>(bytes);
    }
    return sgl;
}

std::string_view NvmeProperty::name() const {
    switch (offset) {
        case 0x00:
            return "CAP";
        case 0x08:
            return "VS";
        case 0x14:
            return "CC";
        case 0x1c:
            return "CSTS";
        case 0x20:
            return "NSSR";
        default:
            return {};
    }
}

std::string_view NvmeCommand::name() const {
    if (fctype)
        return fabrics_name(*fctype);
    return queue_id == 0 ? admin_name(opcode) : io_name(opcode);
}

NvmeCommand NvmeCommand::parse(std::optional<std::uint16_t> queue_id,
                               util::FixedBytes<size> bytes) {
    constexpr std::size_t sgl1_at = 24;
    const std::uint8_t flags = util::be8<1>(bytes);
    NvmeCommand command;
    command.queue_id = queue_id;
    command.opcode = util::be8<0>(bytes);
    command.fuse = util::bits<0, 2>(flags);
    command.psdt = util::bits<6, 2>(flags);
    command.cid = util::le16<2>(bytes);
    if (command.opcode == fabrics)
        parse_fabrics(command, bytes);
    if (!command.fctype || transfers_data(*command.fctype))
        command.sgl1 = NvmeSgl::parse(bytes.subspan<sgl1_at, NvmeSgl::size>());
    if (command.opcode == fabrics)
        return command;
    command.nsid = util::le32<4>(bytes);
    if (queue_id != 0 && has_range(command.opcode)) {
        command.slba = util::le64<40>(bytes);
        command.blocks = std::uint32_t{util::le16<48>(bytes)} + 1;
    }
    return command;
}

std::string_view NvmeResponse::status_name() const {
    switch (status_code_type()) {
        case 0:
            return generic_status(status_code());
        case 1:
            return command_status(status_code());
        default:
            return {};
    }
}

NvmeResponse NvmeResponse::parse(std::optional<std::uint16_t> queue_id,
                                 util::FixedBytes<size> bytes) {
    return {.queue_id = queue_id,
            .sq_head = util::le16<8>(bytes),
            .sq_id = util::le16<10>(bytes),
            .cid = util::le16<12>(bytes),
            .status = util::le16<14>(bytes)};
}

}  // namespace upper
