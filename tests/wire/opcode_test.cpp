// The opcode table as a whole. tests/differential compares the layout of each row with tshark.
#include "wire/opcode.hpp"

#include <map>

#include <gtest/gtest.h>

namespace opcode_test {

using wire::find_opcode;
using wire::OpcodeInfo;
using wire::Transport;

TEST(Opcode, there_are_as_many_rows_as_the_specification_has) {
    std::map<Transport, int> rows;
    for (const OpcodeInfo& opcode : wire::opcodes())
        ++rows[opcode.transport()];
    // RC includes FLUSH and ATOMIC WRITE, and RD includes FLUSH. XRC has neither.
    EXPECT_EQ(rows, (std::map<Transport, int>{{Transport::Rc, 25},
                                              {Transport::Uc, 12},
                                              {Transport::Rd, 23},
                                              {Transport::Ud, 2},
                                              {Transport::Cnp, 1},
                                              {Transport::Xrc, 23}}));
}

TEST(Opcode, is_found_by_its_value_and_reserved_ones_are_not) {
    for (const OpcodeInfo& opcode : wire::opcodes())
        EXPECT_EQ(find_opcode(opcode.value), &opcode);
    for (const int reserved : {0x15, 0x18, 0x1f, 0x2c, 0x3f, 0x56, 0x60, 0x66, 0x80, 0x82, 0xb5})
        EXPECT_EQ(find_opcode(static_cast<std::uint8_t>(reserved)), nullptr) << reserved;
    EXPECT_EQ(find_opcode(0xc0), nullptr);
    EXPECT_TRUE(wire::is_manufacturer_opcode(0xc0));
    EXPECT_FALSE(wire::is_manufacturer_opcode(0xbf));
}

TEST(Opcode, names_begin_with_the_transport) {
    for (const OpcodeInfo& opcode : wire::opcodes())
        EXPECT_TRUE(opcode.name.starts_with(name(opcode.transport()))) << opcode.name;
}

TEST(Opcode, name_and_position_agree) {
    for (const OpcodeInfo& opcode : wire::opcodes()) {
        const auto has = [&](std::string_view word) {
            return opcode.name.find(word) != std::string_view::npos;
        };
        EXPECT_EQ(opcode.is_first(), has(" First")) << opcode.name;
        EXPECT_EQ(opcode.is_middle(), has(" Middle")) << opcode.name;
        EXPECT_EQ(opcode.is_last(), has(" Last")) << opcode.name;
        EXPECT_EQ(opcode.has(wire::header::immdt), has("with Immediate")) << opcode.name;
        EXPECT_EQ(opcode.has(wire::header::ieth), has("with Invalidate")) << opcode.name;
    }
}

TEST(Opcode, only_the_first_packet_of_a_write_names_the_memory) {
    for (const OpcodeInfo& opcode : wire::opcodes())
        EXPECT_EQ(opcode.operation == wire::Operation::RdmaWrite && opcode.has(wire::header::reth),
                  opcode.operation == wire::Operation::RdmaWrite && opcode.starts_message())
            << opcode.name;
}

TEST(Opcode, responses_go_back_and_requests_do_not) {
    for (const int value : {0x0d, 0x0e, 0x10, 0x11, 0x12, 0x51, 0xb1})
        EXPECT_TRUE(find_opcode(static_cast<std::uint8_t>(value))->is_response()) << value;
    for (const int value : {0x00, 0x0a, 0x0c, 0x13, 0x24, 0x55, 0x64, 0xa4})
        EXPECT_TRUE(find_opcode(static_cast<std::uint8_t>(value))->is_request()) << value;
    EXPECT_FALSE(find_opcode(wire::cnp_opcode)->is_request());
    EXPECT_FALSE(find_opcode(wire::cnp_opcode)->is_response());
}

TEST(Opcode, headers_have_the_specifications_sizes) {
    EXPECT_EQ(wire::headers_size(find_opcode(0x0b)->headers), 16U + 4U);
    EXPECT_EQ(wire::headers_size(find_opcode(0x12)->headers), 4U + 8U);
    EXPECT_EQ(wire::headers_size(find_opcode(0x13)->headers), 28U);
    EXPECT_EQ(wire::headers_size(find_opcode(0x4b)->headers), 4U + 8U + 16U + 4U);
    EXPECT_EQ(wire::headers_size(find_opcode(0xab)->headers), 4U + 16U + 4U);
    EXPECT_EQ(wire::headers_size(find_opcode(0x81)->headers), 16U);
}

}  // namespace opcode_test
