// ConnectRequests, and the private data header of rdma_cm in them. Offsets: IBTA volume 1, chapter
// 12, as in Linux include/rdma/ibta_vol1_c12.h; annex A11.
#include <gtest/gtest.h>

#include "wire/cm_data.hpp"

namespace cm_req_test {

using wire::CmAttribute;
using wire::CmReq;
using wire_test::CmData;

CmReq parse_req(const CmData& data) {
    return data.parse_as<CmReq>(CmAttribute::ConnectRequest);
}

TEST(CmReq, fields_of_the_connection) {
    const CmData data = CmData()
                            .put(43, "ac")
                            .put(47, "ad")
                            .put(50, "4e")
                            .put(51, "fa")
                            .put(8, "abcdef0123456789")
                            .put(95, "97");
    const CmReq req = parse_req(data);
    EXPECT_EQ(req.local_comm_id, 0x00010203U);
    EXPECT_EQ(req.service_id, 0xabcdef0123456789U);
    EXPECT_EQ(req.local_qpn, 0x202122U);
    EXPECT_EQ(req.responder_resources, 35);
    EXPECT_EQ(req.transport_service_type, 0b10);
    EXPECT_EQ(req.starting_psn, wire::Psn(0x2c2d2e));
    EXPECT_EQ(req.retry_count, 0b101);
    EXPECT_EQ(req.p_key, 0x3031);
    EXPECT_EQ(req.path_mtu, 4);
    EXPECT_EQ(req.extended_transport, 0b010);
    EXPECT_EQ(req.local_ack_timeout, 0b10010);
    EXPECT_EQ(req.ip_service, std::nullopt);
    EXPECT_TRUE(data.is_at(req.private_data, 140, 92));
}

TEST(CmReq, path_mtu_is_a_code) {
    const auto bytes = [](std::uint8_t code) {
        CmReq req;
        req.path_mtu = code;
        return req.path_mtu_bytes();
    };
    EXPECT_EQ(bytes(1), 256U);
    EXPECT_EQ(bytes(3), 1024U);
    EXPECT_EQ(bytes(5), 4096U);
    EXPECT_EQ(bytes(0), 0U);
    EXPECT_EQ(bytes(6), 0U);
}

constexpr std::string_view tcp_port_18515 = "0000000001 06 4853";
constexpr std::string_view ip_cm_header =
    "00 40 c123 000000000000000000000000c0000202 000000000000000000000000c0000201";

TEST(IpCm, names_addresses_and_ports_in_a_request) {
    const CmData data = CmData().put(8, tcp_port_18515).put(140, ip_cm_header);
    const CmReq req = parse_req(data);
    EXPECT_EQ(req.ip_service, (wire::IpService{.protocol = 6, .port = 18515}));
    ASSERT_TRUE(req.ip_cm);
    EXPECT_EQ(req.ip_cm->ip_version, 4);
    EXPECT_EQ(req.ip_cm->src_port, 0xc123);
    EXPECT_EQ(text(req.ip_cm->src_ipv4()), "192.0.2.2");
    EXPECT_EQ(text(req.ip_cm->dst_ipv4()), "192.0.2.1");
    EXPECT_TRUE(data.is_at(req.private_data, 176, 56)) << "the program's own begins behind it";
}

TEST(IpCm, addresses_of_ipv6_fill_the_field) {
    const CmReq req = parse_req(
        CmData().put(8, tcp_port_18515).put(140, "0060").put(160, "20010db8").put(144, "fe80"));
    ASSERT_TRUE(req.ip_cm);
    EXPECT_EQ(req.ip_cm->ip_version, 6);
    EXPECT_EQ(text(req.ip_cm->src), "fe80:9293:9495:9697:9899:9a9b:9c9d:9e9f");
    EXPECT_EQ(text(req.ip_cm->dst), "2001:db8:a4a5:a6a7:a8a9:aaab:acad:aeaf");
}

TEST(IpCm, is_not_seen_in_a_request_of_another_service) {
    const CmData data = CmData().put(8, "0000000002064853").put(140, ip_cm_header);
    EXPECT_EQ(parse_req(data).ip_service, std::nullopt);
    EXPECT_EQ(parse_req(data).ip_cm, std::nullopt);
    EXPECT_TRUE(data.is_at(parse_req(data).private_data, 140, 92));
}

TEST(IpCm, of_an_unknown_version_is_left_to_the_program) {
    for (const std::string_view unknown : {"1040", "0050", "0000"}) {
        const CmData data = CmData().put(8, tcp_port_18515).put(140, unknown);
        EXPECT_TRUE(parse_req(data).ip_service);
        EXPECT_EQ(parse_req(data).ip_cm, std::nullopt) << unknown;
        EXPECT_TRUE(data.is_at(parse_req(data).private_data, 140, 92));
    }
}

TEST(Sidr, request_and_response) {
    const CmData asked = CmData().put(8, "0000000001 11 4853").put(16, ip_cm_header);
    const auto req = asked.parse_as<wire::CmSidrReq>(CmAttribute::ServiceIdResReq);
    EXPECT_EQ(req.request_id, 0x00010203U);
    EXPECT_EQ(req.p_key, 0x0405);
    EXPECT_EQ(req.service_id, 0x0000000001114853U);
    EXPECT_EQ(req.ip_service, (wire::IpService{.protocol = 0x11, .port = 18515}));
    ASSERT_TRUE(req.ip_cm);
    EXPECT_EQ(text(req.ip_cm->dst_ipv4()), "192.0.2.1");
    EXPECT_TRUE(asked.is_at(req.private_data, 52, 180));

    const CmData data;
    const auto rep = data.parse_as<wire::CmSidrRep>(CmAttribute::ServiceIdResReqResp);
    EXPECT_EQ(rep.request_id, 0x00010203U);
    EXPECT_EQ(rep.status, 4);
    EXPECT_EQ(rep.status_name(), "Redirect to another port");
    EXPECT_EQ(rep.qpn, 0x08090aU);
    EXPECT_EQ(rep.service_id, 0x0c0d0e0f10111213U);
    EXPECT_EQ(rep.q_key, 0x14151617U);
    EXPECT_TRUE(data.is_at(rep.private_data, 96, 136));
}

}  // namespace cm_req_test
