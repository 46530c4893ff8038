// Fields that only some commands have (NVM Express Base Specification 1.4; over Fabrics 1.1, 3).
#include <gtest/gtest.h>

#include "upper/parsed.hpp"

namespace nvme_commands_test {

using upper::NvmeCommand;
using upper::NvmeProperty;
using upper_test::text_of;

constexpr std::size_t fctype_at = 4;
constexpr std::size_t sgl_type_at = 39;

// A command whose reserved bytes are zero, with a keyed data block of 512 bytes.
std::vector<std::byte> command_bytes(std::uint8_t opcode) {
    auto bytes = wire_test::from_hex(
        "00400100 02000000 00000000 00000000 00000000 00000000"
        "8877665544332211 000200 ddccbbaa 40"
        "efcdab8967452301 ffff0000 00000000 00000000 00000000");
    bytes[0] = std::byte{opcode};
    return bytes;
}

NvmeCommand parsed(const std::vector<std::byte>& bytes, std::optional<std::uint16_t> queue = 1) {
    return NvmeCommand::parse(queue, util::Bytes(bytes).first<NvmeCommand::size>());
}

TEST(NvmeCommands, only_commands_for_a_range_have_blocks) {
    constexpr std::array with_range{0x01, 0x02, 0x04, 0x05, 0x08, 0x0c};
    for (int opcode = 0; opcode <= UINT8_MAX; ++opcode) {
        const bool has_range = std::ranges::find(with_range, opcode) != with_range.end();
        const auto command = parsed(command_bytes(static_cast<std::uint8_t>(opcode)));
        EXPECT_EQ(command.slba.has_value(), has_range) << opcode;
        EXPECT_EQ(command.blocks.has_value(), has_range) << opcode;
        EXPECT_EQ(command.slba.value_or(0), has_range ? 0x0123456789abcdef : 0) << opcode;
        EXPECT_EQ(command.blocks.value_or(0), has_range ? 65536U : 0U) << opcode;
    }
}

TEST(NvmeCommands, no_command_of_the_admin_queue_has_blocks) {
    for (int opcode = 0; opcode <= UINT8_MAX; ++opcode)
        EXPECT_FALSE(parsed(command_bytes(static_cast<std::uint8_t>(opcode)), 0).blocks) << opcode;
    EXPECT_TRUE(parsed(command_bytes(0x02), std::nullopt).blocks);
}

TEST(NvmeCommands, only_connect_and_authentication_transfer_data_among_fabrics_commands) {
    constexpr std::array with_data{0x01, 0x05, 0x06};
    for (int fctype = 0; fctype <= UINT8_MAX; ++fctype) {
        auto bytes = command_bytes(NvmeCommand::fabrics);
        bytes[fctype_at] = static_cast<std::byte>(fctype);
        const auto command = parsed(bytes);
        EXPECT_EQ(command.fctype, fctype);
        EXPECT_EQ(command.sgl1.has_value(), std::ranges::find(with_data, fctype) != with_data.end())
            << fctype;
        EXPECT_EQ(command.connect.has_value(), fctype == 1) << fctype;
        EXPECT_EQ(command.property.has_value(), fctype == 0 || fctype == 4) << fctype;
        EXPECT_FALSE(command.nsid || command.slba || command.blocks) << fctype;
    }
}

TEST(NvmeCommands, property_set_names_its_property) {
    auto bytes = command_bytes(NvmeCommand::fabrics);
    bytes[fctype_at] = std::byte{0};
    const auto at = [&](std::size_t offset, std::string_view hex) {
        std::ranges::copy(wire_test::from_hex(hex),
                          bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    at(40, "f8 000000 14000000 01004600");  // five reserved bits; CC
    EXPECT_EQ(parsed(bytes).property, (NvmeProperty{.size_code = 0, .offset = 0x14}));
    EXPECT_EQ(text_of({parsed(bytes)}), "NVMe Property Set cid 0x0001 offset 0x14 (CC)");
    at(40, "01 000000 24000000");
    EXPECT_EQ(parsed(bytes).property, (NvmeProperty{.size_code = 1, .offset = 0x24}));
    EXPECT_EQ(text_of({parsed(bytes)}), "NVMe Property Set cid 0x0001 offset 0x24");
}

TEST(NvmeCommands, only_a_keyed_data_block_has_a_key_and_a_length_of_24_bits) {
    auto bytes = command_bytes(0x01);
    for (int type = 0; type < 16; ++type) {
        bytes[sgl_type_at] = static_cast<std::byte>(type << 4U | 1U);
        const auto sgl = parsed(bytes).sgl1;
        ASSERT_TRUE(sgl);
        EXPECT_EQ(*sgl,
                  (upper::NvmeSgl{.type = static_cast<std::uint8_t>(type),
                                  .subtype = 1,
                                  .address = 0x1122334455667788,
                                  .length = type == 4 ? 0x200U : 0xdd000200U,
                                  .key = type == 4 ? std::optional(0xaabbccddU) : std::nullopt}));
    }
}

TEST(NvmeCommands, the_flags_are_read_from_both_ends_of_their_byte) {
    auto bytes = command_bytes(0x02);
    bytes[1] = std::byte{0x81};
    EXPECT_EQ(parsed(bytes).fuse, 1);
    EXPECT_EQ(parsed(bytes).psdt, 2);
    bytes[1] = std::byte{0x3e};  // the bits between them are reserved
    EXPECT_EQ(parsed(bytes).fuse, 2);
    EXPECT_EQ(parsed(bytes).psdt, 0);
}

TEST(NvmeCommands, a_command_without_data_shows_no_descriptor) {
    auto bytes = command_bytes(0x00);
    std::fill_n(bytes.begin() + 32, 3, std::byte{});
    EXPECT_EQ(text_of({parsed(bytes)}), "NVMe Flush cid 0x0001 nsid 2");
    bytes[32] = std::byte{1};
    EXPECT_EQ(text_of({parsed(bytes)}),
              "NVMe Flush cid 0x0001 nsid 2 data 1 va 0x1122334455667788 rkey 0xaabbccdd");
}

}  // namespace nvme_commands_test
