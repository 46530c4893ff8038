// Connection manager messages as JSON and as text.
#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "wire/cm_data.hpp"
#include "wire/text/summary.hpp"

namespace cm_json_test {

using util::Json;
using wire::CmAttribute;
using wire_test::CmData;
using wire_test::from_hex;

struct Told {
    Json json;
    std::string line;
};

Told told(CmAttribute attribute, util::Bytes bytes) {
    const auto mad = wire_test::cm_mad(attribute, bytes);
    const auto frame = wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
    query_test::Sample sample(frame);
    return {query_test::json_of(sample.view()), wire::packet_summary(sample.view().packet)};
}

// `data`: the first bytes of the message; zeros follow.
Told told(CmAttribute attribute, std::string_view data) {
    auto bytes = from_hex(data);
    bytes.resize(wire::Mad::data_size);
    return told(attribute, util::Bytes(bytes));
}

// The message's fields without those of other messages and of its IDs.
std::string fields_of(CmAttribute attribute, const CmData& data) {
    Json cm = told(attribute, data.bytes()).json["cm"];
    for (const char* key : {"message", "localcommid", "remotecommid", "private"})
        cm.erase(key);
    return cm.dump();
}

void expect_numbers(const Json& object, const std::map<std::string, std::uint64_t>& expected) {
    for (const auto& [key, value] : expected)
        EXPECT_EQ(object.value(key, Json()), value) << key << " in " << object.dump();
}

const std::string ids = "a1a2a3a4 b1b2b3b4 ";

// Offsets: Linux include/rdma/ibta_vol1_c12.h.
const std::string request =
    "a1a2a3a4 00000000 0000000001064853 c1c2c3c4c5c6c7c8 00000000 d1d2d3d4"
    " 01020304 05060707 08090aa0 0b0c0db7 ffff 5f f0";

TEST(CmJson, a_connect_request_has_what_the_connection_is_built_from) {
    const auto [json, line] = told(CmAttribute::ConnectRequest, request);
    EXPECT_EQ(json["mad"]["transactionid"], 0x5152535455565758);
    EXPECT_EQ(json["mad"]["attributeid"], 0x10);
    EXPECT_EQ(json["cm"]["message"], "ConnectRequest");
    expect_numbers(json["cm"], {{"localcommid", 0xa1a2a3a4},
                                {"serviceid", 0x01064853},
                                {"port", 18515},
                                {"localcaguid", 0xc1c2c3c4c5c6c7c8},
                                {"localqkey", 0xd1d2d3d4},
                                {"localqpn", 0x010203},
                                {"responderres", 4},
                                {"startpsn", 0x0b0c0d},
                                {"remoteresptout", 20},
                                {"localresptout", 22},
                                {"retrcount", 7},
                                {"pkey", 0xffff},
                                {"pppmtu", 5},
                                {"rnrretrcount", 7},
                                {"maxcmretr", 15}});
    EXPECT_EQ(line,
              "CM ConnectRequest            comm 0xa1a2a3a4 qpn 0x010203 psn 0x0b0c0d port 18515 "
              "mtu 4096");
}

TEST(CmJson, a_request_has_its_fields_and_its_paths_in_the_order_of_the_wire) {
    const auto [json, line] = told(CmAttribute::ConnectRequest, request);
    std::string keys;
    for (const auto& item : json["cm"].items())
        keys += item.key() + ' ';
    EXPECT_EQ(keys,
              "message localcommid serviceid localcaguid localqkey localqpn responderres initdepth "
              "localeecn remoteeecn remoteresptout transpsvctype e2eflowctrl startpsn "
              "localresptout retrcount pkey pppmtu rdcexist rnrretrcount maxcmretr srq "
              "ext_transport prim alt port private ");
    EXPECT_EQ(json["cm"]["alt"].dump(),
              R"({"locallid":0,"remotelid":0,"localgid":"::","remotegid":"::","flowlabel":0,)"
              R"("pktrate":0,"tfcclass":0,"hoplim":0,"sl":0,"subnetlocal":false,)"
              R"("localacktout":0})");
}

TEST(CmJson, each_field_is_read_from_its_own_bits) {
    constexpr std::string_view path =
        "8001 8002 20010db8000000000000000000000002 20010db8000000000000000000000001"
        "abcdef2d b9 3f a8 97";
    const std::string path_json =
        R"({"locallid":32769,"remotelid":32770,"localgid":"2001:db8::2","remotegid":)"
        R"("2001:db8::1","flowlabel":703710,"pktrate":45,"tfcclass":185,"hoplim":63,"sl":10,)"
        R"("subnetlocal":true,"localacktout":18})";
    const CmData req = CmData().put(43, "ac").put(47, "ad").put(50, "4e").put(51, "fa");
    const std::string req_json =
        R"({"serviceid":579005069656919567,"localcaguid":1157726452361532951,)"
        R"("localqkey":471670303,"localqpn":2105634,"responderres":35,"initdepth":39,)"
        R"("localeecn":2368806,"remoteeecn":2631978,"remoteresptout":21,"transpsvctype":2,)"
        R"("e2eflowctrl":false,"startpsn":2895150,"localresptout":21,"retrcount":5,"pkey":12337,)"
        R"("pppmtu":4,"rdcexist":true,"rnrretrcount":6,"maxcmretr":15,"srq":true,)"
        R"("ext_transport":2,)";
    const auto told = fields_of(CmAttribute::ConnectRequest, CmData(req).put(52, path));
    EXPECT_EQ(told.substr(0, req_json.size()), req_json);
    EXPECT_NE(told.find(R"("prim":)" + path_json), std::string::npos) << told;
    EXPECT_NE(fields_of(CmAttribute::ConnectRequest, CmData(req).put(96, path))
                  .find(R"("alt":)" + path_json),
              std::string::npos);
    EXPECT_EQ(fields_of(CmAttribute::ConnectReply, CmData().put(26, "ad").put(27, "d0")),
              R"({"localcaguid":2025808526418453027,"localqkey":134810123,"localqpn":789774,)"
              R"("respres":24,"initdepth":25,"localeecn":1052946,"e2eflowctrl":true,)"
              R"("startpsn":1316118,"rnrretrcount":6,"srq":true,"tgtackdelay":21,)"
              R"("failoveracc":2})");
    EXPECT_EQ(fields_of(CmAttribute::MsgRcptAck, CmData().put(8, "7f").put(9, "af")),
              R"({"msgmraed":1,"servtimeout":21})");
    EXPECT_EQ(fields_of(CmAttribute::LoadAlternatePath, CmData().put(24, path.substr(10, 65))),
              R"({"remoteqpn":789774,"alt_localgid":"2001:db8::2","alt_remotegid":"2001:db8::1"})");
    EXPECT_EQ(fields_of(CmAttribute::ServiceIdResReq, CmData()),
              R"({"requestid":66051,"serviceid":579005069656919567,"pkey":1029})");
}

TEST(CmJson, a_connect_reply_has_the_other_half) {
    const auto [json, line] =
        told(CmAttribute::ConnectReply, ids + "d1d2d3d4 010203 00 040506 00 0b0c0d 00 07 08 00 e0");
    expect_numbers(json["cm"], {{"localcommid", 0xa1a2a3a4},
                                {"remotecommid", 0xb1b2b3b4},
                                {"localqkey", 0xd1d2d3d4},
                                {"localqpn", 0x010203},
                                {"localeecn", 0x040506},
                                {"startpsn", 0x0b0c0d},
                                {"respres", 7},
                                {"initdepth", 8},
                                {"rnrretrcount", 7}});
    EXPECT_EQ(line,
              "CM ConnectReply              comm 0xa1a2a3a4 to 0xb1b2b3b4 qpn 0x010203 psn "
              "0x0b0c0d");
}

TEST(CmJson, a_refusal_has_its_reason_in_words) {
    const auto [json, line] = told(CmAttribute::ConnectReject, ids + "40 04 001c a5a6");
    expect_numbers(json["cm"], {{"msgrej", 1}, {"reason", 28}});
    EXPECT_EQ(json["cm"]["reason_name"], "Consumer Reject");
    EXPECT_EQ(json["cm"]["ari"], "a5a6");
    EXPECT_EQ(line,
              "CM ConnectReject             comm 0xa1a2a3a4 to 0xb1b2b3b4 of REP: Consumer "
              "Reject (28)");
}

// Code 2 has a different meaning in MRA (12.6.6) and REJ (12.6.7).
TEST(CmJson, a_refusal_and_a_receipt_name_the_message_that_they_answer) {
    EXPECT_NE(told(CmAttribute::ConnectReject, ids + "80 00 001c").line.find(" of no message: "),
              std::string::npos);
    EXPECT_TRUE(told(CmAttribute::MsgRcptAck, ids + "80").line.ends_with(" of LAP"));
    EXPECT_TRUE(told(CmAttribute::MsgRcptAck, ids + "40").line.ends_with(" of REP"));
}

TEST(CmJson, the_short_messages_name_the_connection) {
    for (const auto& [attribute, name] :
         {std::pair{CmAttribute::ReadyToUse, "ReadyToUse"},
          std::pair{CmAttribute::DisconnectReply, "DisconnectReply"}}) {
        const auto [json, line] = told(attribute, ids + "f1f2");
        EXPECT_EQ(json["cm"]["message"], name);
        expect_numbers(json["cm"], {{"localcommid", 0xa1a2a3a4}, {"remotecommid", 0xb1b2b3b4}});
        EXPECT_EQ(json["cm"]["private"].get<std::string>().substr(0, 6), "f1f200");
        EXPECT_TRUE(line.ends_with(" comm 0xa1a2a3a4 to 0xb1b2b3b4")) << line;
    }
    const auto [json, line] = told(CmAttribute::DisconnectRequest, ids + "010203 00");
    expect_numbers(json["cm"], {{"remoteqpn", 0x010203}});
    EXPECT_TRUE(line.ends_with(" remote qpn 0x010203")) << line;
}

TEST(CmJson, a_datagram_service_is_resolved) {
    const auto asked = told(CmAttribute::ServiceIdResReq, "a1a2a3a4 ffff 0000 0000000001114853");
    expect_numbers(
        asked.json["cm"],
        {{"requestid", 0xa1a2a3a4}, {"pkey", 0xffff}, {"serviceid", 0x01114853}, {"port", 18515}});
    EXPECT_TRUE(asked.line.ends_with(" request 0xa1a2a3a4 port 18515")) << asked.line;
    const auto answered = told(CmAttribute::ServiceIdResReqResp,
                               "a1a2a3a4 00 00 0000 010203 00 0000000001114853 11223344");
    expect_numbers(answered.json["cm"], {{"status", 0}, {"qpn", 0x010203}, {"qkey", 0x11223344}});
    EXPECT_TRUE(answered.line.ends_with(" qpn 0x010203 q_key 0x11223344: Valid QPN"))
        << answered.line;
}

TEST(CmJson, an_attribute_that_the_cm_does_not_have_is_not_made_up) {
    const auto [json, line] = told(static_cast<CmAttribute>(0x7777), "");
    EXPECT_EQ(json["cm"].dump(), R"({"message":null})");
    EXPECT_NE(line.find("CM Send(0x7777)"), std::string::npos) << line;
}

}  // namespace cm_json_test
