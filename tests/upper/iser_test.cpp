#include <gtest/gtest.h>

#include "trace/service/capsules.hpp"
#include "upper/parsed.hpp"

namespace iser_test {

using upper_test::text_of;

upper::Message parsed(std::string_view hex) {
    return upper_test::parsed({upper::Service::Iser, std::nullopt}, hex);
}

TEST(Iser, reads_a_scsi_command_that_the_target_writes_for) {
    const auto message = parsed(service_test::iser_scsi_read);
    const auto* iser = message.as<upper::Iser>();
    ASSERT_NE(iser, nullptr);
    EXPECT_EQ(iser->opcode(), 1);
    EXPECT_FALSE(iser->has_write_stag());
    EXPECT_TRUE(iser->has_read_stag());
    EXPECT_EQ(iser->read_stag, 0x4329U);
    EXPECT_EQ(iser->read_offset, 0xff48cb5f04c71600);
    ASSERT_TRUE(iser->bhs);
    EXPECT_EQ(iser->bhs->opcode, 1);
    EXPECT_EQ(iser->bhs->initiator_task_tag, 0x10000011U);
    EXPECT_EQ(iser->bhs->scsi_opcode, 0x28);
    EXPECT_EQ(text_of(message),
              "iSER SCSI Command 0x28 (READ(10)) itt 0x10000011 "
              "target writes va 0xff48cb5f04c71600 rkey 0x00004329");
}

TEST(Iser, a_hello_has_no_iscsi_header) {
    const auto message = parsed("20110000 00100010 00000000 00000000 00000000 00000000 00000000");
    ASSERT_NE(message.as<upper::Iser>(), nullptr);
    EXPECT_FALSE(message.as<upper::Iser>()->bhs);
    EXPECT_EQ(text_of(message), "iSER opcode 0x2");
}

TEST(Iser, a_message_that_was_cut_says_so) {
    const auto whole = wire_test::from_hex(service_test::iser_scsi_read);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const wire_test::ExactCopy copy(util::Bytes(whole).first(size));
        const auto text =
            text_of(upper::parse({upper::Service::Iser, std::nullopt}, copy, whole.size()));
        if (size < upper::Iser::size)
            EXPECT_EQ(text, "iSER header needs 28 bytes, " + std::to_string(size) + " captured");
        else
            EXPECT_TRUE(text.starts_with("iSER opcode 0x1 target writes")) << text;
    }
}

TEST(Iser, private_data_say_what_is_not_supported) {
    const auto data = wire_test::from_hex("c0000000");
    const auto cm = upper::IserCm::parse(util::Bytes(data).first<4>());
    EXPECT_TRUE(cm.no_zero_based_address());
    EXPECT_TRUE(cm.no_remote_invalidation());
    EXPECT_EQ(text_of({cm}), "iSER without zero-based addresses, no remote invalidation");
}

}  // namespace iser_test
