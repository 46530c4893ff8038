#include <gtest/gtest.h>

#include "trace/service/capsules.hpp"
#include "upper/parsed.hpp"

namespace rpc_rdma_test {

using upper::RpcRdma;
using upper::RpcSegment;
using upper_test::text_of;

upper::Message parsed(std::string_view hex) {
    return upper_test::parsed({upper::Service::RpcRdma, std::nullopt}, hex);
}

TEST(RpcRdma, reads_a_call_with_a_write_chunk) {
    const auto message = parsed(service_test::nfs3_read_call);
    const auto* header = message.as<RpcRdma>();
    ASSERT_NE(header, nullptr);
    EXPECT_EQ(header->xid, 0xae048ee7);
    EXPECT_EQ(header->version, 1U);
    EXPECT_EQ(header->credits, 128U);
    EXPECT_EQ(header->type, upper::RpcRdmaType::Message);
    EXPECT_EQ(header->reads, 0U);
    EXPECT_EQ(header->writes, 1U);
    EXPECT_EQ(header->replies, 0U);
    ASSERT_EQ(header->segment_count, 1U);
    EXPECT_EQ(header->segments[0].list, RpcSegment::List::Write);
    EXPECT_EQ(header->segments[0].handle, 0x677U);
    EXPECT_EQ(header->segments[0].length, 12288U);
    EXPECT_EQ(header->segments[0].offset, 0xae048ee703e7c000);
    ASSERT_TRUE(header->rpc);
    EXPECT_EQ(header->rpc->procedure, (upper::RpcProcedure{100003, 3, 6}));
    EXPECT_EQ(text_of(message),
              "NFSv3 READ call xid 0xae048ee7 credits 128 write 12288 "
              "va 0xae048ee703e7c000 rkey 0x00000677");
}

TEST(RpcRdma, segments_of_one_position_are_one_read_chunk) {
    const auto message = parsed(service_test::rpc_chunks);
    const auto* header = message.as<RpcRdma>();
    ASSERT_NE(header, nullptr);
    EXPECT_EQ(header->reads, 2U);
    EXPECT_EQ(header->writes, 0U);
    EXPECT_EQ(header->replies, 1U);
    EXPECT_EQ(header->segment_count, 5U);
    EXPECT_EQ(header->segments[2].position, 0x100U);
    EXPECT_EQ(header->segments[3].list, RpcSegment::List::Reply);
    EXPECT_FALSE(header->segments[3].position);
    EXPECT_FALSE(header->rpc);
    EXPECT_TRUE(text_of(message).starts_with("RDMA_NOMSG xid 0x00000001 credits 32 read 4096 va"));
    EXPECT_TRUE(text_of(message).ends_with(" of segments 5"));
}

TEST(RpcRdma, a_compound_names_its_first_operations) {
    const auto message = parsed(service_test::nfs4_compound_call);
    const auto* header = message.as<RpcRdma>();
    ASSERT_NE(header, nullptr);
    ASSERT_TRUE(header->rpc && header->rpc->compound);
    const upper::NfsCompound& compound = *header->rpc->compound;
    EXPECT_EQ(compound.tag, "ab");
    EXPECT_EQ(compound.minor_version, 2U);
    EXPECT_EQ(compound.count, 5U);
    EXPECT_EQ(compound.known, 4U);  // the parser does not know the length of OPEN
    EXPECT_EQ(text_of(message),
              "NFSv4 COMPOUND call SEQUENCE PUTFH GETATTR OPEN ... xid 0x00000007 credits 32");
}

TEST(RpcRdma, a_reply_is_named_where_its_call_was_seen) {
    auto message = parsed(service_test::nfs4_compound_reply);
    auto* header = std::get_if<RpcRdma>(&message.body);
    ASSERT_NE(header, nullptr);
    ASSERT_TRUE(header->rpc);
    EXPECT_TRUE(header->rpc->is_reply);
    EXPECT_EQ(text_of(message), "RPC reply xid 0x00000007 credits 32");
    header->rpc->answers({100003, 4, 1});
    EXPECT_EQ(text_of(message),
              "NFSv4 COMPOUND reply SEQUENCE ... status 10 xid 0x00000007 credits 32");
}

TEST(RpcRdma, an_error_and_another_version_are_shown) {
    EXPECT_EQ(text_of(parsed(service_test::rpc_error)),
              "RDMA_ERROR xid 0x00000001 credits 32 error 1");
    EXPECT_EQ(text_of(parsed("00000001 00000002 00000020 00000000 01020304")),
              "RDMA_MSG xid 0x00000001 credits 32 version 2");
}

// Each prefix is decoded as far as possible and reported as cut.
TEST(RpcRdma, a_message_that_was_cut_says_so) {
    for (const auto hex : {service_test::nfs3_read_call, service_test::nfs4_compound_call}) {
        const auto whole = wire_test::from_hex(hex);
        constexpr std::size_t lists_end = 28;  // the shortest header with its chunk lists
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(whole).first(size));
            const auto message =
                upper::parse({upper::Service::RpcRdma, std::nullopt}, copy, whole.size());
            if (size < RpcRdma::size) {
                EXPECT_EQ(text_of(message), "RPC-over-RDMA header needs 16 bytes, " +
                                                std::to_string(size) + " captured");
            } else if (size < lists_end) {
                EXPECT_TRUE(text_of(message).ends_with("cut in the chunk lists")) << size;
            }
        }
    }
}

TEST(RpcRdma, a_list_without_an_end_ends_with_the_payload) {
    std::string endless = "00000001 00000001 00000020 00000000 00000000";
    for (int i = 0; i < 100; ++i)
        endless += "00000001 ffffffff 00000601 00000010 0000000000004000";
    const auto message = parsed(endless);
    ASSERT_NE(message.as<RpcRdma>(), nullptr);
    EXPECT_TRUE(message.as<RpcRdma>()->is_cut);
}

TEST(RpcRdma, private_data_need_the_magic_number) {
    const auto with = wire_test::from_hex("f6ab0e18 01 01 03 07");
    const auto cm = upper::RpcRdmaCm::parse(util::Bytes(with).first<8>());
    ASSERT_TRUE(cm);
    EXPECT_EQ(cm->send_size, 4096U);
    EXPECT_EQ(cm->receive_size, 8192U);
    EXPECT_EQ(cm->flags, 1);
    const auto without = wire_test::from_hex("f6ab0e19 01 01 03 07");
    EXPECT_FALSE(upper::RpcRdmaCm::parse(util::Bytes(without).first<8>()));
}

}  // namespace rpc_rdma_test
