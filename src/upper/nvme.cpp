#include "upper/nvme.hpp"

#include "util/names.hpp"

namespace upper {

namespace {

constexpr std::uint8_t property_set = 0x00;
constexpr std::uint8_t connect_command = 0x01;
constexpr std::uint8_t property_get = 0x04;

std::string_view fabrics_name(std::uint8_t fctype) {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {property_set, "Property Set"},
        {connect_command, "Connect"},
        {property_get, "Property Get"},
        {0x05, "Authentication Send"},
        {0x06, "Authentication Receive"},
        {0x08, "Disconnect"},
    });
    return util::name_in(names, fctype);
}

// Connect and Authentication; others have reserved bytes in place of the descriptor.
bool transfers_data(std::uint8_t fctype) {
    return fctype == connect_command || fctype == 0x05 || fctype == 0x06;
}

std::string_view admin_name(std::uint8_t opcode) {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x00, "Delete I/O Submission Queue"},
        {0x01, "Create I/O Submission Queue"},
        {0x02, "Get Log Page"},
        {0x04, "Delete I/O Completion Queue"},
        {0x05, "Create I/O Completion Queue"},
        {0x06, "Identify"},
        {0x08, "Abort"},
        {0x09, "Set Features"},
        {0x0a, "Get Features"},
        {0x0c, "Asynchronous Event Request"},
        {0x0d, "Namespace Management"},
        {0x10, "Firmware Commit"},
        {0x11, "Firmware Image Download"},
        {0x14, "Device Self-test"},
        {0x15, "Namespace Attachment"},
        {0x18, "Keep Alive"},
        {0x19, "Directive Send"},
        {0x1a, "Directive Receive"},
        {0x80, "Format NVM"},
        {0x81, "Security Send"},
        {0x82, "Security Receive"},
        {0x84, "Sanitize"},
    });
    return util::name_in(names, opcode);
}

std::string_view io_name(std::uint8_t opcode) {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x00, "Flush"},
        {0x01, "Write"},
        {0x02, "Read"},
        {0x04, "Write Uncorrectable"},
        {0x05, "Compare"},
        {0x08, "Write Zeroes"},
        {0x09, "Dataset Management"},
        {0x0c, "Verify"},
        {0x0d, "Reservation Register"},
        {0x0e, "Reservation Report"},
        {0x11, "Reservation Acquire"},
        {0x15, "Reservation Release"},
    });
    return util::name_in(names, opcode);
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
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x00, "Successful Completion"},
        {0x01, "Invalid Command Opcode"},
        {0x02, "Invalid Field in Command"},
        {0x03, "Command ID Conflict"},
        {0x04, "Data Transfer Error"},
        {0x05, "Commands Aborted due to Power Loss Notification"},
        {0x06, "Internal Error"},
        {0x07, "Command Abort Requested"},
        {0x08, "Command Aborted due to SQ Deletion"},
        {0x0b, "Invalid Namespace or Format"},
        {0x0c, "Command Sequence Error"},
        {0x0f, "Data SGL Length Invalid"},
        {0x11, "SGL Descriptor Type Invalid"},
        {0x80, "LBA Out of Range"},
        {0x81, "Capacity Exceeded"},
        {0x82, "Namespace Not Ready"},
        {0x83, "Reservation Conflict"},
    });
    return util::name_in(names, code);
}

// The meaning of command specific codes depends on the command. These are used by Connect only.
std::string_view command_status(std::uint8_t code) {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x80, "Connect Incompatible Format"},
        {0x81, "Connect Controller Busy"},
        {0x82, "Connect Invalid Parameters"},
        {0x83, "Connect Restart Discovery"},
        {0x84, "Connect Invalid Host"},
    });
    return util::name_in(names, code);
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
    static constexpr auto names = std::to_array<util::Named<std::uint32_t>>({
        {0x00, "CAP"},
        {0x08, "VS"},
        {0x14, "CC"},
        {0x1c, "CSTS"},
        {0x20, "NSSR"},
    });
    return util::name_in(names, offset);
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

NvmeCmRequest NvmeCmRequest::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes),
            .queue_id = util::le16<2>(bytes),
            .host_receive_size = util::le16<4>(bytes),
            .host_send_size = util::le16<6>(bytes),
            .controller_id = util::le16<8>(bytes)};
}

NvmeCmReply NvmeCmReply::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes), .controller_receive_size = util::le16<2>(bytes)};
}

NvmeCmReject NvmeCmReject::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes), .status = util::le16<2>(bytes)};
}

std::string_view NvmeCmReject::status_name() const {
    static constexpr auto names = std::to_array<util::Named<std::uint16_t>>({
        {1, "Invalid Private Data Length"},
        {2, "Invalid RECFMT"},
        {3, "Invalid QID"},
        {4, "Invalid HSQSIZE"},
        {5, "Invalid HRQSIZE"},
        {6, "No Resources"},
        {7, "Invalid IRD"},
        {8, "Invalid ORD"},
        {9, "Invalid CNTLID"},
    });
    return util::name_in(names, status);
}

}  // namespace upper
