// Tables of the NVM Express Base Specification 1.4 and NVM Express over Fabrics 1.1.
#include <gtest/gtest.h>

#include "upper/name_table.hpp"
#include "upper/parsed.hpp"

namespace nvme_names_test {

using upper::NvmeCommand;
using upper::NvmeResponse;
using upper_test::expect_names;
using upper_test::text_of;

TEST(NvmeNames, admin_commands_have_the_names_of_the_base_specification) {
    expect_names({{0x00, "Delete I/O Submission Queue"},
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
                  {0x84, "Sanitize"}},
                 UINT8_MAX, [](std::uint32_t opcode) {
                     NvmeCommand command;
                     command.queue_id = 0;
                     command.opcode = static_cast<std::uint8_t>(opcode);
                     return command.name();
                 });
}

TEST(NvmeNames, io_commands_have_names_on_any_queue_but_the_admin_queue) {
    for (const std::optional<std::uint16_t> queue :
         {std::optional<std::uint16_t>(1), std::optional<std::uint16_t>()})
        expect_names({{0x00, "Flush"},
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
                      {0x15, "Reservation Release"}},
                     UINT8_MAX, [&](std::uint32_t opcode) {
                         NvmeCommand command;
                         command.queue_id = queue;
                         command.opcode = static_cast<std::uint8_t>(opcode);
                         return command.name();
                     });
}

TEST(NvmeNames, fabrics_commands_are_named_by_their_type_on_every_queue) {
    for (const std::uint16_t queue : {std::uint16_t{0}, std::uint16_t{1}})
        expect_names({{0x00, "Property Set"},
                      {0x01, "Connect"},
                      {0x04, "Property Get"},
                      {0x05, "Authentication Send"},
                      {0x06, "Authentication Receive"},
                      {0x08, "Disconnect"}},
                     UINT8_MAX, [&](std::uint32_t fctype) {
                         NvmeCommand command;
                         command.queue_id = queue;
                         command.opcode = 0x7f;
                         command.fctype = static_cast<std::uint8_t>(fctype);
                         return command.name();
                     });
}

TEST(NvmeNames, properties_are_named_by_their_offset) {
    expect_names({{0x00, "CAP"}, {0x08, "VS"}, {0x14, "CC"}, {0x1c, "CSTS"}, {0x20, "NSSR"}}, 0x40,
                 [](std::uint32_t offset) {
                     return upper::NvmeProperty{.size_code = 0, .offset = offset}.name();
                 });
}

// The status field: bits 8:1 are the code, bits 11:9 its type.
std::string_view status_name(unsigned type, unsigned code) {
    NvmeResponse response;
    response.status = static_cast<std::uint16_t>(code << 1U | type << 9U);
    return response.status_name();
}

TEST(NvmeNames, generic_status_codes_have_the_names_of_the_base_specification) {
    expect_names({{0x00, "Successful Completion"},
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
                  {0x83, "Reservation Conflict"}},
                 UINT8_MAX, [](std::uint32_t code) { return status_name(0, code); });
}

TEST(NvmeNames, command_specific_status_codes_are_those_of_connect) {
    expect_names({{0x80, "Connect Incompatible Format"},
                  {0x81, "Connect Controller Busy"},
                  {0x82, "Connect Invalid Parameters"},
                  {0x83, "Connect Restart Discovery"},
                  {0x84, "Connect Invalid Host"}},
                 UINT8_MAX, [](std::uint32_t code) { return status_name(1, code); });
}

TEST(NvmeNames, codes_of_other_status_types_have_no_name) {
    for (const unsigned type : {2U, 3U, 7U})
        expect_names({}, UINT8_MAX, [&](std::uint32_t code) { return status_name(type, code); });
}

TEST(NvmeNames, a_response_shows_the_type_of_its_status_and_the_code_with_its_name) {
    NvmeResponse response;
    response.cid = 0x12;
    response.sq_head = 65535;
    response.status = 0x82U << 1U | 1U << 9U;
    EXPECT_EQ(text_of({response}),
              "NVMe response cid 0x0012 sq head 65535 status type 0x1 code 0x82 "
              "(Connect Invalid Parameters)");
    response.status = 1U << 9U;
    EXPECT_EQ(text_of({response}),
              "NVMe response cid 0x0012 sq head 65535 status type 0x1 code 0x00");
    response.status = 1U;  // the phase tag, which fabrics reserve
    EXPECT_EQ(text_of({response}), "NVMe response cid 0x0012 sq head 65535 success");
}

TEST(NvmeNames, a_command_without_a_name_shows_its_opcode) {
    NvmeCommand command;
    command.queue_id = 1;
    command.opcode = 0xc3;
    command.cid = 0xabcd;
    EXPECT_EQ(text_of({command}), "NVMe opcode 0xc3 cid 0xabcd");
}

TEST(NvmeCm, status_codes_of_a_reject_have_the_names_of_the_transport_specification) {
    expect_names({{1, "Invalid Private Data Length"},
                  {2, "Invalid RECFMT"},
                  {3, "Invalid QID"},
                  {4, "Invalid HSQSIZE"},
                  {5, "Invalid HRQSIZE"},
                  {6, "No Resources"},
                  {7, "Invalid IRD"},
                  {8, "Invalid ORD"},
                  {9, "Invalid CNTLID"}},
                 20, [](std::uint32_t status) {
                     upper::NvmeCmReject reject;
                     reject.status = static_cast<std::uint16_t>(status);
                     return reject.status_name();
                 });
    EXPECT_EQ(text_of({upper::NvmeCmReject{.record_format = 0, .status = 6}}),
              "NVMe reject status 6 (No Resources)");
    EXPECT_EQ(text_of({upper::NvmeCmReject{.record_format = 0, .status = 10}}),
              "NVMe reject status 10");
}

}  // namespace nvme_names_test
