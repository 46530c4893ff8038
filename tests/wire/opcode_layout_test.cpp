// Compares the rows of the opcode table with the general rules of the specification.
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "wire/opcode.hpp"

namespace opcode_layout_test {

namespace header = wire::header;
using wire::find_opcode;
using wire::HeaderMask;
using wire::OpcodeInfo;
using wire::Transport;

constexpr HeaderMask no_headers = 0;

// Bits 4:0 of the opcodes of reliable connections: IBTA volume 1, table "OpCode field"; annex A19.
struct Row {
    unsigned operation;
    std::string_view name;
    HeaderMask headers;
};
constexpr Row rows[] = {
    {0x00, "SEND First", header::payload},
    {0x01, "SEND Middle", header::payload},
    {0x02, "SEND Last", header::payload},
    {0x03, "SEND Last with Immediate", header::immdt | header::payload},
    {0x04, "SEND Only", header::payload},
    {0x05, "SEND Only with Immediate", header::immdt | header::payload},
    {0x06, "RDMA WRITE First", header::reth | header::payload},
    {0x07, "RDMA WRITE Middle", header::payload},
    {0x08, "RDMA WRITE Last", header::payload},
    {0x09, "RDMA WRITE Last with Immediate", header::immdt | header::payload},
    {0x0a, "RDMA WRITE Only", header::reth | header::payload},
    {0x0b, "RDMA WRITE Only with Immediate", header::reth | header::immdt | header::payload},
    {0x0c, "RDMA READ Request", header::reth},
    {0x0d, "RDMA READ response First", header::aeth | header::payload},
    {0x0e, "RDMA READ response Middle", header::payload},
    {0x0f, "RDMA READ response Last", header::aeth | header::payload},
    {0x10, "RDMA READ response Only", header::aeth | header::payload},
    {0x11, "Acknowledge", header::aeth},
    {0x12, "ATOMIC Acknowledge", header::aeth | header::atomic_ack_eth},
    {0x13, "CmpSwap", header::atomic_eth},
    {0x14, "FetchAdd", header::atomic_eth},
    {0x16, "SEND Last with Invalidate", header::ieth | header::payload},
    {0x17, "SEND Only with Invalidate", header::ieth | header::payload},
    {0x1c, "FLUSH", header::feth | header::reth},
    {0x1d, "ATOMIC WRITE", header::reth | header::payload},
};
constexpr unsigned write_only_with_immediate = 0x0b;
constexpr unsigned fetch_add = 0x14;
constexpr unsigned flush = 0x1c;
constexpr unsigned atomic_write = 0x1d;

// `added`: headers that the transport adds before those of the row.
void expect_row(Transport transport, const Row& row, HeaderMask added) {
    const unsigned value = static_cast<unsigned>(transport) << 5 | row.operation;
    const OpcodeInfo* opcode = find_opcode(static_cast<std::uint8_t>(value));
    ASSERT_NE(opcode, nullptr) << value;
    EXPECT_EQ(opcode->name, std::string(name(transport)) + " " + std::string(row.name));
    EXPECT_EQ(opcode->headers, row.headers | added) << opcode->name;
    const bool is_response = row.operation >= 0x0d && row.operation <= 0x12;
    EXPECT_EQ(opcode->is_response(), is_response) << opcode->name;
    EXPECT_EQ(opcode->is_request(), !is_response) << opcode->name;
}

bool is_answer(const Row& row) {
    return (row.headers & header::aeth) != 0 || row.name == "RDMA READ response Middle";
}

TEST(OpcodeLayout, of_connections) {
    for (const Row& row : rows) {
        expect_row(Transport::Rc, row, no_headers);
        if (row.operation <= write_only_with_immediate)
            expect_row(Transport::Uc, row, no_headers);
        if (row.operation < flush)
            expect_row(Transport::Xrc, row, is_answer(row) ? no_headers : header::xrceth);
    }
}

TEST(OpcodeLayout, of_datagrams) {
    constexpr HeaderMask request = header::rdeth | header::deth;
    for (const Row& row : rows)
        if (row.operation <= fetch_add || row.operation == flush)
            expect_row(Transport::Rd, row, is_answer(row) ? header::rdeth : request);
    expect_row(Transport::Rd, {0x15, "RESYNC", no_headers}, request);
    for (const unsigned send : {4U, 5U})
        expect_row(Transport::Ud, rows[send], header::deth);
}

// A DC packet has the headers of RC after the DC header.
TEST(OpcodeLayout, of_the_dynamically_connected_transport) {
    for (const Row& row : rows) {
        const unsigned value = 0x40 | row.operation;
        const OpcodeInfo* opcode = wire::find_dc_opcode(static_cast<std::uint8_t>(value));
        if (row.operation > fetch_add) {
            EXPECT_EQ(opcode, nullptr) << row.name;
            continue;
        }
        ASSERT_NE(opcode, nullptr) << row.name;
        EXPECT_EQ(opcode->value, value);
        EXPECT_EQ(opcode->name, "DC " + std::string(row.name));
        EXPECT_EQ(opcode->headers, row.headers | header::dceth) << row.name;
        EXPECT_EQ(opcode->transport(), Transport::Dc);
        EXPECT_EQ(opcode->is_response(),
                  find_opcode(static_cast<std::uint8_t>(value))->is_response());
        EXPECT_EQ(opcode->position, find_opcode(static_cast<std::uint8_t>(value))->position);
    }
    EXPECT_EQ(wire::find_dc_opcode(0x3f), nullptr);
    EXPECT_EQ(wire::find_dc_opcode(0x40 | (fetch_add + 1)), nullptr);
    EXPECT_EQ(wire::find_dc_opcode(0x04), nullptr);
}

TEST(OpcodeLayout, of_a_congestion_notification) {
    const OpcodeInfo* cnp = find_opcode(wire::cnp_opcode);
    EXPECT_EQ(cnp->name, "CNP");
    EXPECT_EQ(cnp->headers, header::cnp_reserved);
    EXPECT_TRUE(cnp->is_only());
}

TEST(OpcodeLayout, first_and_middle_packets_do_not_end_a_message) {
    for (const OpcodeInfo& opcode : wire::opcodes()) {
        EXPECT_EQ(opcode.ends_message(), !opcode.is_first() && !opcode.is_middle()) << opcode.name;
        EXPECT_EQ(opcode.starts_message(), !opcode.is_last() && !opcode.is_middle()) << opcode.name;
        EXPECT_TRUE(opcode.ends_message() || !opcode.has(header::immdt | header::ieth))
            << opcode.name;
    }
}

TEST(OpcodeLayout, transports_have_names) {
    EXPECT_EQ(name(Transport::Rc), "RC");
    EXPECT_EQ(name(Transport::Xrc), "XRC");
    EXPECT_EQ(name(Transport::Dc), "DC");
    EXPECT_EQ(name(Transport::Manufacturer6), "manufacturer");
    EXPECT_EQ(name(Transport::Manufacturer7), "manufacturer");
}

static_assert(std::size(rows) == 25 && rows[24].operation == atomic_write);

}  // namespace opcode_layout_test
