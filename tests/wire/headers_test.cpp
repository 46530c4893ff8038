// Headers that tshark does not decode (see tests/support/tshark_limits.cpp), parsed from bytes that
// were written according to the specification.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace headers_test {

// Returns an IPv4 packet with UDP, `transport` and space for an ICRC.
std::vector<std::byte> ip_packet(std::string_view transport) {
    const auto behind = wire_test::from_hex(transport);
    auto packet = wire_test::from_hex(
        "4500 0000 0000 4000 4011 0000 c000 0202 c000 0201 c001 12b7 0000 0000");
    const std::size_t length = packet.size() + behind.size() + wire::icrc_size;
    packet[3] = static_cast<std::byte>(length);
    packet[25] = static_cast<std::byte>(length - wire::Ipv4::size);
    packet.insert(packet.end(), behind.begin(), behind.end());
    packet.resize(length);
    return packet;
}

// `packet` refers to `bytes`.
struct Decoded {
    explicit Decoded(std::string_view transport)
        : bytes(ip_packet(transport)), packet(wire::decode(bytes, wire::LinkType::RawIp)) {
        EXPECT_TRUE(packet.is_complete()) << (packet.malformed ? packet.malformed->text() : "");
    }
    std::vector<std::byte> bytes;
    wire::Packet packet;
};

TEST(Headers, of_a_reliable_datagram_follow_the_bth_at_once) {
    const Decoded write(
        "4b40ffff 00000012 80000007"          // BTH: RD RDMA WRITE Only with Imm.
        "00010203"                            // RDETH: reserved, EE context
        "11223344 ff0a0b0c"                   // DETH: Q_Key, reserved, source QP
        "0102030405060708 0a0b0c0d 00000004"  // RETH
        "cafe0001"                            // ImmDt
        "99999999");                          // payload
    EXPECT_EQ(write.packet.rdeth->eecnxt, 0x010203U);
    EXPECT_EQ(write.packet.deth->q_key, 0x11223344U);
    EXPECT_EQ(write.packet.deth->src_qpn, 0x0a0b0cU);
    EXPECT_EQ(write.packet.reth->va, 0x0102030405060708U);
    EXPECT_EQ(write.packet.immdt->value, 0xcafe0001U);
    EXPECT_EQ(write.packet.payload_length, 4U);

    const Decoded answer(
        "5140ffff 00000012 00000007"  // RD Acknowledge
        "00010203"                    // RDETH
        "1f000005");                  // AETH
    EXPECT_EQ(answer.packet.rdeth->eecnxt, 0x010203U);
    EXPECT_EQ(answer.packet.aeth->msn, 5U);
}

// Public sources specify the length (20 bytes) and the first byte of the DC header, but not its
// layout.
TEST(Headers, of_dc_take_20_bytes_behind_the_bth_in_requests_and_responses) {
    constexpr std::string_view dceth = "10000000 0123456789abcdef 00000abc 00000000";
    const Decoded write("4b40ffff 00000012 80000007"          // BTH: RDMA WRITE Only with Immediate
                        + std::string(dceth) +                // DC header
                        "0102030405060708 0a0b0c0d 00000004"  // RETH
                        "cafe0001"                            // ImmDt
                        "99999999");                          // payload
    EXPECT_EQ(write.packet.opcode->name, "DC RDMA WRITE Only with Immediate");
    EXPECT_EQ(write.packet.opcode->transport(), wire::Transport::Dc);
    EXPECT_TRUE(std::ranges::equal(write.packet.dceth->bytes, wire_test::from_hex(dceth)));
    EXPECT_FALSE(write.packet.rdeth);
    EXPECT_FALSE(write.packet.deth);
    EXPECT_EQ(write.packet.reth->va, 0x0102030405060708U);
    EXPECT_EQ(write.packet.reth->rkey, 0x0a0b0c0dU);
    EXPECT_EQ(write.packet.immdt->value, 0xcafe0001U);
    EXPECT_EQ(write.packet.payload_length, 4U);

    const Decoded answer(
        "5140ffff 00000012 00000007"  // Acknowledge
        "11000000 0123456789abcdef 00000abc 00000000"
        "1f000005");  // AETH
    EXPECT_EQ(answer.packet.opcode->name, "DC Acknowledge");
    EXPECT_EQ(answer.packet.aeth->msn, 5U);
}

TEST(Headers, of_a_dc_opcode_that_is_not_known_are_the_dc_header_alone) {
    const Decoded packet(
        "5840ffff 00000012 00000007"
        "10000000 0123456789abcdef 00000abc 00000000"
        "0102030405060708");
    EXPECT_EQ(packet.packet.opcode, nullptr);
    EXPECT_TRUE(packet.packet.dceth);
    EXPECT_EQ(packet.packet.payload_length, 8U);
}

TEST(Headers, of_xrc_name_the_shared_receive_queue_in_requests_only) {
    const Decoded send(
        "b740ffff 00000012 80000007"  // XRC SEND Only with Invalidate
        "ff0d0e0f"                    // XRCETH: reserved, XRC SRQ
        "deadbeef");                  // IETH
    EXPECT_EQ(send.packet.xrceth->xrcsrq, 0x0d0e0fU);
    EXPECT_EQ(send.packet.ieth->rkey, 0xdeadbeefU);

    const Decoded atomic(
        "b340ffff 00000012 80000007"         // XRC CmpSwap
        "000d0e0f"                           // XRCETH
        "0102030405060708 0a0b0c0d"          // AtomicETH: va, rkey,
        "1111111111111111 2222222222222222"  // swap, compare
    );
    EXPECT_EQ(atomic.packet.atomic_eth->rkey, 0x0a0b0c0dU);
    EXPECT_EQ(atomic.packet.atomic_eth->swapdt, 0x1111111111111111U);
    EXPECT_EQ(atomic.packet.atomic_eth->cmpdt, 0x2222222222222222U);

    const Decoded answer(
        "b240ffff 00000012 00000007"   // XRC ATOMIC Acknowledge
        "1f000005 3333333333333333");  // AETH, AtomicAckETH
    EXPECT_FALSE(answer.packet.xrceth);
    EXPECT_EQ(answer.packet.atomic_ack_eth->origremdt, 0x3333333333333333U);
}

// FETH (annex A19): placement type in bits 3:0, selectivity in bits 5:4; other bits are reserved.
TEST(Headers, of_flush_and_atomic_write) {
    const Decoded flush(
        "1c40ffff 00000012 80000007"          // RC FLUSH
        "ffffffd2"                            // FETH: selectivity 1, placement 2
        "0102030405060708 0a0b0c0d 00000040"  // RETH
    );
    EXPECT_EQ(flush.packet.feth->sel, 1);
    EXPECT_EQ(flush.packet.feth->plt, 2);
    EXPECT_EQ(flush.packet.reth->dmalen, 0x40U);

    const Decoded write(
        "1d40ffff 00000012 80000007"          // RC ATOMIC WRITE
        "0102030405060708 0a0b0c0d 00000008"  // RETH
        "5555555555555555");
    EXPECT_EQ(write.packet.reth->rkey, 0x0a0b0c0dU);
    EXPECT_EQ(write.packet.payload_length, 8U);
}

}  // namespace headers_test
