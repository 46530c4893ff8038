// Tables of iSCSI (RFC 7143, 11.2) and of the SCSI commands (SPC-4, SBC-3).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "upper/name_table.hpp"
#include "upper/parsed.hpp"

namespace iscsi_names_test {

using upper::IscsiBhs;
using upper::Iser;
using upper_test::expect_names;
using upper_test::text_of;

TEST(IscsiNames, opcodes_have_the_names_of_the_rfc) {
    expect_names({{0x00, "NOP-Out"},
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
                  {0x3f, "Reject"}},
                 UINT8_MAX, [](std::uint32_t opcode) {
                     IscsiBhs bhs;
                     bhs.opcode = static_cast<std::uint8_t>(opcode);
                     return bhs.name();
                 });
}

TEST(IscsiNames, scsi_commands_are_named_by_the_first_byte_of_the_cdb) {
    expect_names({{0x00, "TEST UNIT READY"},
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
                  {0xa3, "MAINTENANCE IN"}},
                 UINT8_MAX, [](std::uint32_t code) {
                     IscsiBhs bhs;
                     bhs.scsi_opcode = static_cast<std::uint8_t>(code);
                     return bhs.scsi_name();
                 });
    EXPECT_EQ(IscsiBhs().scsi_name(), "");
}

Iser parsed(std::string_view hex) {
    const auto message = upper_test::parsed({upper::Service::Iser, std::nullopt}, hex);
    const auto* iser = message.as<Iser>();
    EXPECT_NE(iser, nullptr);
    return iser != nullptr ? *iser : Iser();
}

TEST(Iser, reads_both_steering_tags_and_a_header_with_immediate_data) {
    // A NOP-Out with the immediate bit, two bytes of additional header and 0x0a0b0c of data.
    const Iser iser = parsed(
        "1c000000 00004711 0000000000000010 00004329 ff48cb5f04c71600"
        "40800000 020a0b0c 0000000000000000 10000012 ffffffff 00000012 00000013"
        "28000000 00000000 08000000 00000000");
    EXPECT_EQ(iser.flags, 0x1c);
    EXPECT_TRUE(iser.has_write_stag());
    EXPECT_TRUE(iser.has_read_stag());
    EXPECT_EQ(iser.write_stag, 0x4711U);
    EXPECT_EQ(iser.write_offset, 0x10U);
    ASSERT_TRUE(iser.bhs);
    EXPECT_EQ(iser.bhs->opcode, 0);
    EXPECT_EQ(iser.bhs->data_segment_length, 0x0a0b0cU);
    EXPECT_FALSE(iser.bhs->scsi_opcode);
    EXPECT_EQ(text_of({iser}),
              "iSER NOP-Out itt 0x10000012 data 658188 "
              "target reads va 0x0000000000000010 rkey 0x00004711 "
              "target writes va 0xff48cb5f04c71600 rkey 0x00004329");
}

TEST(Iser, codes_without_a_name_are_shown_as_numbers) {
    Iser iser;
    iser.flags = 0x18;
    iser.write_stag = 0xcafe;
    iser.write_offset = 1;
    iser.bhs = IscsiBhs{.opcode = 0x1c,
                        .data_segment_length = 1,
                        .initiator_task_tag = 2,
                        .scsi_opcode = std::nullopt};
    EXPECT_EQ(text_of({iser}),
              "iSER iSCSI opcode 0x1c itt 0x00000002 data 1 "
              "target reads va 0x0000000000000001 rkey 0x0000cafe");
    iser.flags = 0x10;
    iser.bhs->opcode = 1;
    iser.bhs->scsi_opcode = 0xc1;
    iser.bhs->data_segment_length = 0;
    EXPECT_EQ(text_of({iser}), "iSER SCSI Command 0xc1 itt 0x00000002");
}

TEST(Iser, only_a_control_type_message_has_an_iscsi_header) {
    const std::string header = "000000 00000000 0000000000000000 00000000 0000000000000000";
    const std::string bhs =
        "3f800000 00000000 0000000000000000 ffffffff 00000000 00000012 00000013"
        "00000000 00000000 00000000 00000000";
    for (unsigned opcode = 0; opcode < 16; ++opcode) {
        const std::string digit(1, "0123456789abcdef"[opcode]);
        const Iser iser = parsed(fmt::format("{}0{}{}", digit, header, bhs));
        EXPECT_EQ(iser.bhs.has_value(), opcode == 1) << opcode;
        EXPECT_EQ(text_of({iser}),
                  opcode == 1 ? "iSER Reject itt 0xffffffff" : "iSER opcode 0x" + digit);
    }
}

TEST(Iser, private_data_name_each_capability_by_its_own_bit) {
    const auto text = [](std::uint8_t flags) { return text_of({upper::IserCm{flags}}); };
    EXPECT_EQ(text(0x80), "iSER without zero-based addresses, remote invalidation");
    EXPECT_EQ(text(0x40), "iSER with zero-based addresses, no remote invalidation");
    EXPECT_EQ(text(0x3f), "iSER with zero-based addresses, remote invalidation");
}

}  // namespace iscsi_names_test
