// Fields that have only a Wireshark name: their values, and to which packets they belong.
#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "filter/where.hpp"

namespace wireshark_fields_test {

using query_test::json_of;
using query_test::Sample;
using util::Json;
using wire_test::Network;

Json value(Sample& sample, const char* name) {
    const filter::Field* field = filter::find_field(name);
    EXPECT_NE(field, nullptr) << name;
    if (field == nullptr)
        return {};
    const auto view = sample.view();
    if (field->is_of != nullptr && !field->is_of(view))
        return {};
    return json_of(field->get(view), field->kind);
}

Sample answer(std::uint8_t syndrome) {
    auto packet = query_test::packet_of(0x11);
    packet.aeth->syndrome = syndrome;
    return Sample(wire::encode(packet));
}

// IBTA volume 1, 9.7.5.2.2: bits 6 and 5 are the type, bits 4 to 0 the value.
TEST(WiresharkFields, parts_of_a_syndrome_have_a_field_for_each_type) {
    constexpr std::array names{"aeth.syndrome.credit_count", "aeth.syndrome.timer",
                               "aeth.syndrome.reserved_value", "aeth.syndrome.error_code"};
    for (unsigned type = 0; type < 4; ++type) {
        Sample sample = answer(static_cast<std::uint8_t>(type << 5U | 0x13U));
        EXPECT_EQ(value(sample, "aeth.syndrome.opcode"), type);
        for (unsigned i = 0; i < names.size(); ++i)
            EXPECT_EQ(value(sample, names[i]), i == type ? Json(0x13) : Json()) << names[i];
    }
    Sample without = query_test::sample_of(0x04);
    EXPECT_EQ(value(without, "aeth.syndrome.opcode"), Json());
}

Sample message(wire::CmAttribute attribute, std::string_view data,
               Network network = Network::Ipv4) {
    auto bytes = wire_test::from_hex(data);
    bytes.resize(wire::Mad::data_size);
    return Sample(wire::encode(wire_test::cm_packet(wire_test::cm_mad(attribute, bytes), network)));
}

// A ConnectRequest; `version`: the IP version of rdma_cm's header in its private data, which
// begins at byte 140 (Linux drivers/infiniband/core/cma.c, struct cma_hdr).
Sample request(const char* version, Network network = Network::Ipv4) {
    std::vector<std::byte> data(wire::Mad::data_size);
    const auto put = [&](std::size_t at, std::string_view hex) {
        const auto bytes = wire_test::from_hex(hex);
        std::ranges::copy(bytes, data.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, "00000001");
    put(8, "0000000001061144");  // the port space of TCP, port 4420
    put(56, "0000000000000000 0000ffff c0000202");
    put(72, "0000000000000000 0000ffff c0000201");
    put(140, std::string("00") + version + "8000");
    put(144, "20010db8 00000000 00000000 c0000202 20010db8 00000000 00000000 c0000201");
    return Sample(wire::encode(
        wire_test::cm_packet(wire_test::cm_mad(wire::CmAttribute::ConnectRequest, data), network)));
}

TEST(WiresharkFields, a_gid_in_an_ipv4_packet_is_its_last_four_bytes) {
    Sample ipv4 = request("40");
    EXPECT_EQ(value(ipv4, "cm.req.prim_localgid_ipv4"), "192.0.2.2");
    EXPECT_EQ(value(ipv4, "cm.req.prim_remotegid_ipv4"), "192.0.2.1");
    Sample ipv6 = request("40", Network::Ipv6);
    EXPECT_EQ(value(ipv6, "cm.req.prim_localgid_ipv4"), Json());
    Sample reply = message(wire::CmAttribute::ConnectReply, "00000002 00000001");
    EXPECT_EQ(value(reply, "cm.req.prim_localgid_ipv4"), Json());
}

TEST(WiresharkFields, addresses_of_rdma_cm_have_a_field_for_each_ip_version) {
    Sample four = request("40");
    EXPECT_EQ(value(four, "cm.req.ip_cm.sip4"), "192.0.2.2");
    EXPECT_EQ(value(four, "cm.req.ip_cm.dip4"), "192.0.2.1");
    EXPECT_EQ(value(four, "cm.req.ip_cm.sip6"), Json());
    EXPECT_EQ(value(four, "cm.req.private"), Json());
    EXPECT_NE(value(four, "cm.req.ip_cm.private"), Json());
    EXPECT_EQ(value(four, "cm.req.serviceid.dport"), 4420);
    Sample six = request("60");
    EXPECT_EQ(value(six, "cm.req.ip_cm.sip4"), Json());
    EXPECT_EQ(value(six, "cm.req.ip_cm.sip6"), "2001:db8::c000:202");
    EXPECT_EQ(value(six, "cm.req.ip_cm.dip6"), "2001:db8::c000:201");
    EXPECT_EQ(value(six, "cm.req.private"), Json());
    Sample neither = request("50");
    EXPECT_EQ(value(neither, "cm.req.ip_cm.sip4"), Json());
    EXPECT_EQ(value(neither, "cm.req.ip_cm.sip6"), Json());
    EXPECT_NE(value(neither, "cm.req.private"), Json());
    EXPECT_EQ(value(neither, "cm.req.ip_cm.private"), Json());
}

TEST(WiresharkFields, each_message_of_the_connection_manager_has_fields_of_its_own) {
    constexpr std::array messages{
        std::pair{wire::CmAttribute::ConnectRequest, "cm.req.localcommid"},
        std::pair{wire::CmAttribute::ConnectReply, "cm.rep.localcommid"},
        std::pair{wire::CmAttribute::ReadyToUse, "cm.rtu.localcommid"},
        std::pair{wire::CmAttribute::ConnectReject, "cm.rej.localcommid"},
        std::pair{wire::CmAttribute::DisconnectRequest, "cm.dreq.localcommid"},
        std::pair{wire::CmAttribute::DisconnectReply, "cm.drsp.localcommid"}};
    for (const auto& [attribute, own] : messages) {
        Sample sample = message(attribute, "0a0b0c0d");
        for (const auto& [other, name] : messages)
            EXPECT_EQ(value(sample, name), name == own ? Json(0x0a0b0c0d) : Json()) << name;
    }
}

TEST(WiresharkFields, only_a_service_tag_has_the_fields_of_802_1ad) {
    const auto tagged = [](const std::string& type) {
        auto frame = wire::encode(query_test::packet_of(0x04));
        // Priority 5, drop eligible, VLAN 7.
        const auto tag = wire_test::from_hex(type + "b007");
        frame.insert(frame.begin() + 12, tag.begin(), tag.end());
        return Sample(frame);
    };
    Sample service = tagged("88a8");
    EXPECT_EQ(value(service, "ieee8021ad.priority"), 5);
    EXPECT_EQ(value(service, "ieee8021ad.dei"), true);
    EXPECT_EQ(value(service, "ieee8021ad.id"), 7);
    Sample customer = tagged("8100");
    EXPECT_EQ(value(customer, "ieee8021ad.id"), Json());
    EXPECT_EQ(value(customer, "vlan.id"), 7);
}

TEST(WiresharkFields, private_data_of_nvme_have_a_format_for_each_message) {
    constexpr std::array names{"nvme-rdma.cm.req.recfmt", "nvme-rdma.cm.rsp.recfmt",
                               "nvme-rdma.cm.rej.recfmt"};
    upper::NvmeCmRequest request;
    upper::NvmeCmReply reply;
    upper::NvmeCmReject reject;
    request.record_format = reply.record_format = reject.record_format = 1;
    const std::array<upper::Message, 3> messages{{{request}, {reply}, {reject}}};
    for (std::size_t i = 0; i < messages.size(); ++i) {
        Sample sample = query_test::sample_of(0x04);
        sample.carrying(messages[i]);
        for (std::size_t n = 0; n < names.size(); ++n)
            EXPECT_EQ(value(sample, names[n]), n == i ? Json(1) : Json()) << names[n];
    }
    Sample none = query_test::sample_of(0x04);
    EXPECT_EQ(value(none, names[0]), Json());
}

TEST(WiresharkFields, only_a_fabrics_command_has_its_identifier) {
    upper::NvmeCommand command;
    command.cid = 0x1234;
    Sample sample = query_test::sample_of(0x04);
    EXPECT_EQ(value(sample, "nvme.fabrics.cmd.cid"), Json());
    sample.carrying({command});
    EXPECT_EQ(value(sample, "nvme.fabrics.cmd.cid"), Json());
    command.fctype = 1;
    sample.carrying({command});
    EXPECT_EQ(value(sample, "nvme.fabrics.cmd.cid"), value(sample, "nvme.cmd.cid"));
    EXPECT_NE(value(sample, "nvme.fabrics.cmd.cid"), Json());
}

TEST(Octets, compare_as_text_does) {
    const auto bytes = wire_test::from_hex("01020301020401");
    const auto octets = [&](std::size_t at, std::size_t size) {
        return filter::Octets{util::Bytes(bytes).subspan(at, size)};
    };
    EXPECT_EQ(octets(0, 2), octets(3, 2));
    EXPECT_NE(octets(0, 3), octets(3, 3));
    EXPECT_NE(octets(0, 2), octets(0, 3));
    EXPECT_LT(octets(0, 3), octets(3, 3));
    EXPECT_LT(octets(0, 2), octets(0, 3));
    EXPECT_FALSE(octets(3, 3) < octets(0, 3));
    EXPECT_EQ(filter::Null(), filter::Null());
    EXPECT_FALSE(filter::Null() < filter::Null());
}

}  // namespace wireshark_fields_test
