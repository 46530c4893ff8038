#include <gtest/gtest.h>

#include "trace/service/capsules.hpp"
#include "upper/parsed.hpp"

namespace nvme_test {

using upper::Channel;
using upper::Service;
using upper_test::text_of;

upper::Message parsed(std::string_view hex, std::optional<std::uint16_t> queue_id = 1) {
    return upper_test::parsed({Service::Nvme, queue_id}, hex);
}

TEST(Nvme, reads_a_command_of_an_io_queue) {
    const auto message = parsed(service_test::read_command);
    const auto* command = message.as<upper::NvmeCommand>();
    ASSERT_NE(command, nullptr);
    EXPECT_EQ(command->opcode, 2);
    EXPECT_EQ(command->psdt, 1);
    EXPECT_EQ(command->cid, 0x700c);
    EXPECT_EQ(command->nsid, 1U);
    EXPECT_EQ(command->sgl1, (upper::NvmeSgl{.type = 4,
                                             .subtype = 15,
                                             .address = 0xff21944b75783000,
                                             .length = 4096,
                                             .key = 0x234f}));
    EXPECT_EQ(command->slba, 0x80U);
    EXPECT_EQ(command->blocks, 8U);
    EXPECT_EQ(text_of(message),
              "NVMe Read cid 0x700c nsid 1 lba 128 blocks 8 data 4096 "
              "va 0xff21944b75783000 rkey 0x0000234f");
}

TEST(Nvme, an_opcode_has_another_name_on_the_admin_queue) {
    const auto message = parsed(service_test::read_command, 0);
    const auto* command = message.as<upper::NvmeCommand>();
    ASSERT_NE(command, nullptr);
    EXPECT_EQ(command->name(), "Get Log Page");
    EXPECT_FALSE(command->slba);
}

TEST(Nvme, reads_the_commands_of_fabrics) {
    const auto connect = parsed(service_test::connect_command);
    ASSERT_NE(connect.as<upper::NvmeCommand>(), nullptr);
    EXPECT_EQ(connect.as<upper::NvmeCommand>()->connect,
              (upper::NvmeConnect{.record_format = 0,
                                  .queue_id = 3,
                                  .sq_size = 32,
                                  .attributes = 4,
                                  .keep_alive_ms = 5000}));
    EXPECT_FALSE(connect.as<upper::NvmeCommand>()->nsid);
    EXPECT_EQ(text_of(connect),
              "NVMe Connect cid 0x0000 queue 3 sq size 32 keep alive 5000 ms "
              "data 1024 va 0xff21947b42c12800 rkey 0x000003e0");

    const auto property = parsed(service_test::property_get);
    ASSERT_NE(property.as<upper::NvmeCommand>(), nullptr);
    EXPECT_EQ(property.as<upper::NvmeCommand>()->property,
              (upper::NvmeProperty{.size_code = 1, .offset = 0}));
    EXPECT_FALSE(property.as<upper::NvmeCommand>()->sgl1);
    EXPECT_EQ(text_of(property), "NVMe Property Get cid 0x0002 offset 0x00 (CAP)");
}

TEST(Nvme, data_in_the_capsule_have_no_key) {
    const auto message = parsed(
        "01400200 01000000 00000000 00000000 00000000 00000000"
        "00000000 00000000 00100000 00000001"
        "00000000 00000000 07000000 00000000 00000000 00000000 aabb");
    ASSERT_NE(message.as<upper::NvmeCommand>(), nullptr);
    ASSERT_TRUE(message.as<upper::NvmeCommand>()->sgl1);
    EXPECT_FALSE(message.as<upper::NvmeCommand>()->sgl1->key);
    EXPECT_EQ(text_of(message), "NVMe Write cid 0x0002 nsid 1 lba 0 blocks 8 data 4096 in capsule");
}

TEST(Nvme, a_message_of_16_bytes_is_a_response) {
    const auto good = parsed("00000000 00000000 0300 0100 0c70 0000");
    EXPECT_EQ(text_of(good), "NVMe response cid 0x700c sq head 3 success");

    const auto bad = parsed("00000000 00000000 0300 0100 0c70 0540", 0);
    const auto* response = bad.as<upper::NvmeResponse>();
    ASSERT_NE(response, nullptr);
    EXPECT_EQ(response->status_code(), 2);
    EXPECT_EQ(response->status_code_type(), 0);
    EXPECT_FALSE(response->do_not_retry());
    EXPECT_EQ(text_of(bad),
              "NVMe response cid 0x700c sq head 3 status type 0x0 code 0x02 "
              "(Invalid Field in Command)");
    EXPECT_TRUE(
        parsed("00000000 00000000 0300 0100 0c70 0580").as<upper::NvmeResponse>()->do_not_retry());
}

TEST(Nvme, a_capsule_that_was_cut_says_so) {
    const auto command = wire_test::from_hex(service_test::read_command);
    for (std::size_t size = 0; size < command.size(); ++size) {
        const wire_test::ExactCopy copy(util::Bytes(command).first(size));
        const auto cut = upper::parse({Service::Nvme}, copy, command.size());
        EXPECT_EQ(text_of(cut),
                  "NVMe command needs 64 bytes, " + std::to_string(size) + " captured");
    }
    EXPECT_EQ(text_of(parsed("0102030405")), "NVMe command needs 64 bytes, the message has 5");
    const std::array<std::byte, 5> few{};
    EXPECT_EQ(text_of(upper::parse({Service::Nvme}, few, 16)),
              "NVMe response needs 16 bytes, 5 captured");
}

TEST(Nvme, nothing_is_decoded_without_a_service) {
    const auto bytes = wire_test::from_hex(service_test::read_command);
    EXPECT_EQ(upper::parse(Channel{}, bytes, bytes.size()).body.index(), 0U);
}

TEST(Nvme, services_have_names_and_ports) {
    EXPECT_EQ(upper::service_of_port(4420), Service::Nvme);
    EXPECT_EQ(upper::service_of_port(18515), Service::None);
    EXPECT_EQ(upper::service_named("nvme"), (Channel{Service::Nvme, std::nullopt}));
    EXPECT_EQ(upper::service_named("nvme-admin"), (Channel{Service::Nvme, 0}));
    EXPECT_EQ(upper::service_named("NVMe"), std::nullopt);
}

}  // namespace nvme_test
