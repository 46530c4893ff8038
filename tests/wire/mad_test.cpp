// Management datagrams in packets: which of them are connection manager messages, and their names.
#include "wire/mad.hpp"

#include <map>

#include <gtest/gtest.h>

#include "wire/infiniband_frames.hpp"

namespace mad_test {

using wire::CmAttribute;
using wire::Mad;

TEST(Mad, common_header_from_known_bytes_and_back) {
    const auto bytes =
        wire_test::from_hex("01 07 02 83 8405 8607 88090a0b0c0d0e0f 9011 0000 94151617");
    const Mad mad{.base_version = 1,
                  .mgmt_class = 7,
                  .class_version = 2,
                  .method = 0x83,
                  .status = 0x8405,
                  .class_specific = 0x8607,
                  .transaction_id = 0x88090a0b0c0d0e0f,
                  .attribute_id = 0x9011,
                  .attribute_modifier = 0x94151617};
    EXPECT_EQ(wire::parse<Mad>(std::span(bytes).first<Mad::size>()), mad);
    std::array<std::byte, Mad::size> out{};
    out.fill(std::byte{0xee});
    wire::write(mad, out);
    EXPECT_TRUE(std::ranges::equal(out, bytes));
}

// `packet` refers to `frame`.
struct Carried {
    explicit Carried(const wire::Packet& sent)
        : frame(wire::encode(sent)), packet(wire::decode(frame, wire::LinkType::Ethernet)) {}
    std::vector<std::byte> frame;
    wire::Packet packet;
};

TEST(Mad, every_attribute_of_the_connection_manager_has_its_message) {
    const std::map<CmAttribute, std::pair<std::string_view, std::size_t>> messages{
        {CmAttribute::ClassPortInfo, {"ClassPortInfo", 0}},
        {CmAttribute::ConnectRequest, {"ConnectRequest", 1}},
        {CmAttribute::MsgRcptAck, {"MsgRcptAck", 2}},
        {CmAttribute::ConnectReject, {"ConnectReject", 3}},
        {CmAttribute::ConnectReply, {"ConnectReply", 4}},
        {CmAttribute::ReadyToUse, {"ReadyToUse", 5}},
        {CmAttribute::DisconnectRequest, {"DisconnectRequest", 6}},
        {CmAttribute::DisconnectReply, {"DisconnectReply", 7}},
        {CmAttribute::ServiceIdResReq, {"ServiceIDResReq", 8}},
        {CmAttribute::ServiceIdResReqResp, {"ServiceIDResReqResp", 9}},
        {CmAttribute::LoadAlternatePath, {"LoadAlternatePath", 10}},
        {CmAttribute::AlternatePathResponse, {"AlternatePathResponse", 11}},
        {CmAttribute{0x1b}, {"", 0}}};
    for (const auto& [attribute, message] : messages)
        for (const auto network : wire_test::all_networks) {
            const auto mad = wire_test::cm_mad(attribute, {});
            const Carried carried(wire_test::cm_packet(mad, network));
            ASSERT_TRUE(carried.packet.is_complete());
            ASSERT_TRUE(carried.packet.cm);
            EXPECT_EQ(carried.packet.mad->transaction_id, 0x5152535455565758U);
            EXPECT_EQ(carried.packet.mad->method_name(), "Send()");
            EXPECT_EQ(carried.packet.cm->name(), message.first);
            EXPECT_EQ(carried.packet.cm->body.index(), message.second) << message.first;
        }
}

TEST(Mad, of_another_class_is_none_of_the_connection_managers) {
    auto mad = wire_test::cm_mad(CmAttribute::ConnectRequest, {});
    mad[1] = std::byte{wire::mgmt_class::performance};
    const Carried carried(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
    EXPECT_TRUE(carried.packet.is_complete());
    EXPECT_EQ(carried.packet.mad->mgmt_class, 4);
    EXPECT_FALSE(carried.packet.cm);
}

TEST(Mad, is_expected_in_datagrams_to_queue_pair_1_only) {
    const auto mad = wire_test::cm_mad(CmAttribute::ConnectRequest, {});
    auto sent = wire_test::cm_packet(mad, wire_test::Network::Ipv4);
    sent.bth->dest_qpn = 2;
    EXPECT_FALSE(Carried(sent).packet.mad);
    sent.bth->dest_qpn = wire::gsi_qpn;
    EXPECT_TRUE(Carried(sent).packet.mad);
    sent.bth->opcode = 0x24;  // UC SEND Only
    EXPECT_FALSE(Carried(sent).packet.mad);
}

TEST(Mad, cut_by_the_snap_length_shows_its_header_alone) {
    const auto mad = wire_test::cm_mad(CmAttribute::ConnectRequest, {});
    const auto frame = wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
    const auto packet =
        wire::decode(util::Bytes(frame).first(128), wire::LinkType::Ethernet, frame.size());
    ASSERT_TRUE(packet.mad);
    EXPECT_EQ(packet.mad->attribute_id, 0x10);
    EXPECT_FALSE(packet.cm);
    EXPECT_FALSE(packet.malformed);
    EXPECT_EQ(packet.truncated->text(),
              "truncated by snap length: payload needs 256 bytes, 66 left");
}

TEST(Mad, methods_have_the_specifications_names) {
    const auto name = [](std::uint8_t method) {
        Mad mad;
        mad.method = method;
        return mad.method_name();
    };
    EXPECT_EQ(name(0x01), "Get()");
    EXPECT_EQ(name(0x81), "GetResp()");
    EXPECT_EQ(name(0x05), "Trap()");
    EXPECT_EQ(name(0x92), "GetTableResp()");
    EXPECT_EQ(name(0x04), "method");
}

TEST(Mad, has_the_name_of_its_class_method_and_attribute) {
    const auto text = [](std::uint8_t mgmt_class, std::uint8_t method, std::uint16_t attribute) {
        return Mad{.mgmt_class = mgmt_class, .method = method, .attribute_id = attribute}.text();
    };
    EXPECT_EQ(text(0x01, 0x01, 0x0011), "SM Get(NodeInfo)");
    EXPECT_EQ(text(0x81, 0x02, 0x0015), "SM Set(PortInfo)");
    EXPECT_EQ(text(0x01, 0x05, 0x0002), "SM Trap(Notice)");
    EXPECT_EQ(text(0x03, 0x12, 0x0035), "SA GetTable(PathRecord)");
    EXPECT_EQ(text(0x04, 0x81, 0x0012), "PM GetResp(PortCounters)");
    EXPECT_EQ(text(0x04, 0x81, 0x0001), "PM GetResp(ClassPortInfo)");
    EXPECT_EQ(text(0x07, 0x03, 0x0010), "CM Send(ConnectRequest)");
    EXPECT_EQ(text(0x05, 0x01, 0x0077), "BM Get(0x0077)");
    EXPECT_EQ(text(0x0a, 0x01, 0x0011), "");
}

// A subnet management packet goes to queue pair 0, which RoCE does not have.
TEST(Mad, to_queue_pair_0_of_infiniband_is_a_subnet_management_packet) {
    const auto data = wire_test::from_hex("1122334455667788 0005ffff");
    const Mad mad{.mgmt_class = wire::mgmt_class::subnet_management_directed,
                  .class_version = 1,
                  .method = 1,
                  .status = 0x8000,
                  .class_specific = 0x0102,
                  .attribute_id = 0x11};
    const auto frame = wire_test::native_mad(mad, data, wire::smi_qpn);
    const auto packet = wire::decode(frame, wire::LinkType::Infiniband);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.lrh->vl, 15);
    EXPECT_EQ(packet.mad, mad);
    EXPECT_EQ(packet.mad->hop_pointer(), 1);
    EXPECT_EQ(packet.mad->hop_count(), 2);
    EXPECT_TRUE(packet.mad->is_returning());
    EXPECT_EQ(*packet.smp, (wire::Smp{.mkey = 0x1122334455667788, .drslid = 5, .drdlid = 0xffff}));
    const auto smp_of = [&](std::uint8_t mgmt_class, std::uint32_t qpn) {
        wire::Mad other = mad;
        other.mgmt_class = mgmt_class;
        const auto bytes = wire_test::native_mad(other, data, qpn);
        const auto carried = wire::decode(bytes, wire::LinkType::Infiniband);
        EXPECT_EQ(carried.mad, other);
        return carried.smp;
    };
    EXPECT_TRUE(smp_of(wire::mgmt_class::subnet_management, wire::smi_qpn));
    EXPECT_FALSE(smp_of(wire::mgmt_class::subnet_management, wire::gsi_qpn));
    EXPECT_FALSE(smp_of(0x03, wire::smi_qpn));

    const auto request = wire_test::cm_mad(CmAttribute::ConnectRequest, {});
    auto roce = wire_test::cm_packet(request, wire_test::Network::Ipv4);
    roce.bth->dest_qpn = wire::smi_qpn;
    EXPECT_FALSE(Carried(roce).packet.mad);
}

}  // namespace mad_test
