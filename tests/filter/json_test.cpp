#include "filter/json.hpp"

#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "support/allocation_count.hpp"
#include "wire/infiniband_frames.hpp"
#include "wire/masked_icrc.hpp"

namespace json_test {

using query_test::packet_of;
using util::Json;
using wire_test::from_hex;
using wire_test::Network;

Json json_of(const std::vector<std::byte>& frame, std::size_t length = 0) {
    query_test::Sample sample(frame, length);
    return query_test::json_of(sample.view());
}

Json json_of(std::uint8_t opcode, Network network = Network::Ipv4, std::size_t payload = 0) {
    return json_of(
        wire::encode(wire_test::sample_packet(*wire::find_opcode(opcode), network, payload)));
}

Json answer(std::uint8_t syndrome) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x11), Network::Ipv4, 0);
    packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 9};
    return json_of(wire::encode(packet))["aeth"];
}

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items())
        names.push_back(item.key());
    return names;
}
using Keys = std::vector<std::string>;

TEST(PacketJson, an_rdma_write_has_every_header_in_the_order_of_the_wire) {
    const Json json = json_of(0x0a, Network::Ipv4, 63);
    EXPECT_EQ(keys(json),
              (Keys{"frame", "time", "t_ns", "len", "caplen", "eth", "ip", "udp", "bth", "reth",
                    "payload_len", "icrc", "not_roce", "truncated", "malformed"}));
    EXPECT_EQ(json["frame"], 3);
    EXPECT_EQ(json["t_ns"], 1'700'000'000'123'456'789);
    EXPECT_EQ(json["time"].get<double>(), 1'700'000'000.123456789);
    EXPECT_EQ(json["eth"],
              (Json{{"dst", "02:00:00:00:00:01"}, {"src", "02:00:00:00:00:02"}, {"type", 0x0800}}));
    EXPECT_EQ(json["bth"].dump(),
              R"({"opcode":10,"opcode_name":"RC RDMA WRITE Only","se":true,"m":true,"padcnt":1,)"
              R"("tver":0,"p_key":65535,"fecn":false,"becn":true,"destqp":74565,"a":true,)"
              R"("psn":16777214})");
    EXPECT_EQ(json["reth"].dump(),
              R"({"va":9151333281403524454,"r_key":3735928559,"dmalen":66051})");
    EXPECT_EQ(json["payload_len"], 63);
    EXPECT_EQ(json["len"], json["caplen"]);
}

// A double cannot represent the time exactly. The text is the exact decimal number, which a reader
// rounds to the nearest double.
TEST(PacketJson, the_time_is_the_decimal_of_its_nanoseconds) {
    const std::pair<std::int64_t, std::string_view> times[] = {
        {0, "0.000000000"},
        {1, "0.000000001"},
        {-1, "-0.000000001"},
        {-1'500'000'000, "-1.500000000"},
        {1'767'225'600'000'035'883, "1767225600.000035883"},
        {INT64_MAX, "9223372036.854775807"},
        {INT64_MIN, "-9223372036.854775808"},
    };
    auto sample = query_test::sample_of(0x0a);
    for (const auto& [ns, text] : times) {
        auto view = sample.view();
        view.time = std::chrono::nanoseconds(ns);
        const std::string line = query_test::json_text(view);
        EXPECT_TRUE(line.starts_with("{\"frame\":3,\"time\":" + std::string(text) +
                                     ",\"t_ns\":" + std::to_string(ns) + ","))
            << line;
        const auto read = query_test::json_of(view)["time"].get<double>();
        EXPECT_EQ(read, std::strtod(std::string(text).c_str(), nullptr));
    }
}

TEST(PacketJson, nothing_is_allocated_once_the_text_is_large_enough) {
    std::string text;
    text.reserve(4096);
    for (const wire::OpcodeInfo& opcode : wire::opcodes()) {
        auto sample = query_test::sample_of(opcode.value);
        const auto view = sample.view();
        text.clear();
        const support::AllocationCount allocations;
        filter::append_json(text, view);
        EXPECT_EQ(allocations.count(), 0U) << opcode.name;
        EXPECT_FALSE(text.empty());
    }
}

TEST(PacketJson, vlan_tags_are_an_array_outermost_first) {
    const auto frame = wire::encode(packet_of(0x0c));
    const auto tagged = [&](std::string_view tags) {
        auto bytes = wire_test::from_hex(tags);
        bytes.insert(bytes.begin(), frame.begin(), frame.begin() + 12);
        bytes.insert(bytes.end(), frame.begin() + 12, frame.end());
        return json_of(bytes);
    };
    EXPECT_FALSE(json_of(frame).contains("vlan"));
    EXPECT_EQ(tagged("8100 6005")["vlan"].dump(),
              R"([{"priority":3,"dei":false,"id":5,"etype":2048}])");
    EXPECT_EQ(tagged("88a8 f007 8100 6005")["vlan"].dump(),
              R"([{"priority":7,"dei":true,"id":7,"etype":33024},)"
              R"({"priority":3,"dei":false,"id":5,"etype":2048}])");
}

TEST(PacketJson, each_network_has_its_header) {
    EXPECT_EQ(json_of(0x0c)["ip"].dump(),
              R"({"src":"192.0.2.2","dst":"192.0.2.1","dscp":26,"ecn":2,"len":60,"id":4660,)"
              R"("df":true,"ttl":63,"proto":17})");
    EXPECT_EQ(json_of(0x0c, Network::Ipv6)["ipv6"].dump(),
              R"({"src":"2001:db8::2","dst":"2001:db8::1","dscp":26,"ecn":2,"flow":703710,)"
              R"("plen":40,"nxt":17,"hlim":63})");
    const Json v1 = json_of(0x0c, Network::Grh);
    EXPECT_EQ(v1["eth"]["type"], 0x8915);
    EXPECT_EQ(v1["grh"]["dgid"], "2001:db8::1");
    EXPECT_EQ(keys(v1["grh"]),
              (Keys{"ipver", "tclass", "flowlabel", "paylen", "nxthdr", "hoplmt", "sgid", "dgid"}));
    EXPECT_FALSE(v1.contains("udp"));
}

TEST(PacketJson, extension_headers_are_exact_to_the_last_bit) {
    EXPECT_EQ(json_of(0x13)["atomiceth"].dump(),
              R"({"va":9151333281403524456,"r_key":3405691582,"swapdt":72623859790382856,)"
              R"("cmpdt":1230066625199609624})");
    EXPECT_EQ(json_of(0x12)["atomicacketh"]["origremdt"], 0x2122232425262728);
    EXPECT_EQ(json_of(0x05)["immdt"], 0x31323334);
    EXPECT_EQ(json_of(0x17)["ieth"], 0x41424344);
    EXPECT_EQ(json_of(0x64)["deth"].dump(), R"({"q_key":287454020,"srcqp":855567})");
    EXPECT_EQ(json_of(0x44)["rdeth"]["eecnxt"], 0x0a0b0c);
    EXPECT_EQ(json_of(0xa4)["xrceth"]["xrcsrq"], 0x1a1b1c);
    EXPECT_EQ(json_of(0x1c)["feth"].dump(), R"({"plt":3,"sel":1})");
}

TEST(PacketJson, an_answer_says_which) {
    EXPECT_EQ(answer(0x1f).dump(), R"({"syndrome":31,"msn":9,"type":"ACK","credits":null})");
    EXPECT_EQ(answer(0x05)["credits"], 6);
    EXPECT_EQ(answer(0x2c).dump(), R"({"syndrome":44,"msn":9,"type":"RNR NAK","timer_ms":0.64})");
    EXPECT_EQ(answer(0x62)["type"], "NAK");
    EXPECT_EQ(answer(0x62)["error"], "Remote Access Error");
    EXPECT_EQ(answer(0x41)["type"], "reserved");
}

TEST(PacketJson, a_wrong_icrc_comes_with_the_right_one) {
    auto frame = wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 8));
    const Json good = json_of(frame)["icrc"];
    EXPECT_EQ(keys(good), (Keys{"value", "status"}));
    EXPECT_EQ(good["status"], "good");
    frame.back() ^= std::byte{1};
    const Json bad = json_of(frame)["icrc"];
    EXPECT_EQ(bad["status"], "bad");
    EXPECT_EQ(bad["computed"], good["value"]);
    EXPECT_NE(bad["value"], good["value"]);
    EXPECT_FALSE(bad.contains("right_with_srcport"));
    frame.back() ^= std::byte{1};
    wire_test::put16(frame, 34, 5);
    EXPECT_EQ(json_of(frame)["icrc"]["right_with_srcport"], 0xc123);
    wire_test::put16(frame, 34, 0xc123);
    frame[15] ^= std::byte{4};
    wire_test::seal(frame, {8, 10, 11, 26, 27, 32});
    EXPECT_EQ(json_of(frame)["icrc"]["hint"], "right with unmasked type of service");
    EXPECT_FALSE(json_of(frame)["icrc"].contains("right_with_srcport"));
}

TEST(PacketJson, a_cut_packet_says_what_is_missing) {
    auto frame =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 64));
    const auto length = frame.size();
    frame.resize(60);
    const Json json = json_of(frame, length);
    EXPECT_EQ(json["len"], length);
    EXPECT_EQ(json["caplen"], 60);
    EXPECT_EQ(json["payload_len"], 64) << "on the wire";
    EXPECT_EQ(json["icrc"]["status"], "unchecked");
    EXPECT_TRUE(json["icrc"]["value"].is_null());
    EXPECT_TRUE(json["icrc"]["reason"].is_string());
    EXPECT_TRUE(json["truncated"].is_string());
    EXPECT_TRUE(json["malformed"].is_null());
}

TEST(PacketJson, an_opcode_without_a_name_has_null) {
    auto frame = wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 8));
    frame[42] = std::byte{0x1f};
    const Json json = json_of(frame);
    EXPECT_EQ(json["bth"]["opcode"], 0x1f);
    EXPECT_TRUE(json["bth"]["opcode_name"].is_null());
    EXPECT_EQ(json["malformed"], "BTH opcode 0x1f is reserved");
}

TEST(PacketJson, what_is_not_roce_is_named) {
    const auto arp = json_of(wire_test::from_hex("020000000001 020000000002 0806 0001"));
    EXPECT_EQ(keys(arp), (Keys{"frame", "time", "t_ns", "len", "caplen", "eth", "not_roce",
                               "truncated", "malformed"}));
    EXPECT_EQ(arp["not_roce"], "ARP");
    EXPECT_TRUE(arp["truncated"].is_null());
}

TEST(PacketJson, an_infiniband_packet_has_its_lrh_and_vcrc) {
    const auto frame = wire_test::native_sample(*wire::find_opcode(0x11), true);
    query_test::Sample sample(wire_test::erf_record(21, frame), 0, wire::LinkType::Erf);
    const Json json = query_test::json_of(sample.view());
    EXPECT_EQ(keys(json),
              (Keys{"frame", "time", "t_ns", "len", "caplen", "erf", "lrh", "grh", "bth", "aeth",
                    "payload_len", "icrc", "vcrc", "not_roce", "truncated", "malformed"}));
    EXPECT_EQ(json["lrh"].dump(),
              R"({"vl":3,"lver":0,"sl":5,"lnh":3,"dlid":69,"pktlen":17,"slid":291})");
    EXPECT_EQ(json["vcrc"]["status"], "good");
    EXPECT_FALSE(json["vcrc"].contains("computed"));
}

TEST(PacketJson, a_subnet_management_packet_has_its_route) {
    wire::Mad mad{.mgmt_class = wire::mgmt_class::subnet_management_directed,
                  .method = 1,
                  .class_specific = 0x0102,
                  .attribute_id = 0x11};
    const auto json_of_mad = [&] {
        query_test::Sample sample(
            wire_test::native_mad(mad, from_hex("0000000000000009 0001 0002"), wire::smi_qpn), 0,
            wire::LinkType::Infiniband);
        return query_test::json_of(sample.view());
    };
    EXPECT_EQ(json_of_mad()["mad"]["name"], "SM Get(NodeInfo)");
    EXPECT_EQ(json_of_mad()["smp"].dump(),
              R"({"mkey":9,"d":false,"hoppointer":1,"hopcount":2,"drslid":1,"drdlid":2})");
    mad.mgmt_class = wire::mgmt_class::subnet_management;
    EXPECT_EQ(json_of_mad()["smp"].dump(), R"({"mkey":9})");
    mad.mgmt_class = 0x0f;
    EXPECT_EQ(json_of_mad()["mad"]["mgmtclass"], 0x0f);
    EXPECT_FALSE(json_of_mad()["mad"].contains("name")) << "a class without a name";
}

}  // namespace json_test
