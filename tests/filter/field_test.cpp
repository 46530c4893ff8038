// Compares the table of fields with the JSON output: both have the same fields with the same
// values.
#include <set>

#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "filter/where.hpp"
#include "trace/service/capsules.hpp"
#include "trace/service/services.hpp"
#include "wire/cm_data.hpp"
#include "wire/encapsulations.hpp"
#include "wire/header_span.hpp"
#include "wire/infiniband_frames.hpp"

namespace field_test {

using filter::Field;
using filter::Kind;
using filter::View;
using query_test::json_of;
using query_test::packet_of;
using query_test::Sample;
using util::Json;
using wire_test::from_hex;
using wire_test::Network;

Sample of_message(wire::CmAttribute attribute, const wire_test::CmData& data) {
    const auto mad = wire_test::cm_mad(attribute, data.bytes());
    return Sample(wire::encode(wire_test::cm_packet(mad, Network::Ipv6)));
}

// Adds packets of connections whose service is known.
void add_carried(std::vector<Sample>& all) {
    service::Services services;
    auto frames = service_test::nvme_frames();
    frames.push_back(service_test::send("0102", false));
    const auto add = [&](const std::vector<std::vector<std::byte>>& more) {
        frames.insert(frames.end(), more.begin(), more.end());
    };
    add(service_test::rpc_frames());
    const std::string read = "00000001 00000078 00000534 00001000 0000000000001000";
    frames.push_back(service_test::send("00000001 00000001 00000020 00000001" + read + read + read +
                                            read + "00000000 00000000 00000000",
                                        false));
    add(service_test::iser_frames());
    for (const auto& frame : frames) {
        Sample sample(frame);
        sample.carrying(services.see(sample.view().packet));
        all.push_back(std::move(sample));
    }
}

// Adds packets of native InfiniBand, and ERF records.
void add_infiniband(std::vector<Sample>& all) {
    using wire::LinkType;
    const auto local = wire_test::native_sample(*wire::find_opcode(0x0a), false, 7);
    auto bad = local;
    bad.back() ^= std::byte{1};
    all.emplace_back(local, 0, LinkType::Infiniband);
    all.emplace_back(bad, 0, LinkType::Infiniband);
    all.emplace_back(wire_test::erf_record(21, local), 0, LinkType::Erf);
    all.emplace_back(from_hex("0000 0005 0003 0006 00001123"), 0, LinkType::Infiniband);
    const auto route = from_hex("1122334455667788 0102 0304");
    for (const auto mgmt_class :
         {wire::mgmt_class::subnet_management, wire::mgmt_class::subnet_management_directed})
        all.emplace_back(wire_test::native_mad({.mgmt_class = mgmt_class,
                                                .method = 1,
                                                .status = 0x8000,
                                                .class_specific = 0x0102,
                                                .attribute_id = 0x11},
                                               route, wire::smi_qpn),
                         0, LinkType::Infiniband);
}

// Returns each variant of the headers whose fields depend on their contents, and packets that are
// decoded only in part.
std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (const auto& frame : wire_test::sample_set())
        all.emplace_back(frame);
    for (const unsigned syndrome : {0x00, 0x05, 0x1f, 0x20, 0x2c, 0x40, 0x60, 0x64, 0x7f}) {
        auto packet = packet_of(0x11);
        packet.aeth = wire::Aeth{.syndrome = static_cast<std::uint8_t>(syndrome), .msn = 9};
        all.emplace_back(wire::encode(packet));
    }
    for (const auto* version : {"40", "60", "50"}) {  // IP versions; the last is invalid
        wire_test::CmData request;
        request.put(8, "0000000001061234").put(140, "00").put(141, version);
        all.push_back(of_message(wire::CmAttribute::ConnectRequest, request));
        wire_test::CmData resolution;
        resolution.put(8, "0000000001111234").put(16, "00").put(17, version);
        all.push_back(of_message(wire::CmAttribute::ServiceIdResReq, resolution));
    }
    all.push_back(of_message(static_cast<wire::CmAttribute>(0x7777), {}));
    const auto write = wire::encode(packet_of(0x0a));
    for (std::size_t size = 0; size <= write.size(); ++size) {
        const auto end = write.begin() + static_cast<std::ptrdiff_t>(size);
        all.emplace_back(std::vector(write.begin(), end), write.size());
        all.emplace_back(std::vector(write.begin(), end));
    }
    all.emplace_back(write).noted({2, "eth0", "lost\n\xff"});
    auto bad = write;
    bad[bad.size() - 6] ^= std::byte{1};
    all.emplace_back(bad);
    auto rewritten = write;
    rewritten[34] ^= std::byte{1};  // changes the source port
    all.emplace_back(rewritten);
    for (const auto* other :
         {"020000000001 020000000002 0806 0001", "020000000001 020000000002 88cc 0001",
          "020000000001 020000000002 0800 45000034 00010000 40060000 c0000202 c0000201"
          "b26e 4853 00000001 00000002 5018 0100 00000000 0102030405060708 090a0b0c",
          "020000000001 020000000002 0800 4500001c 00010000 40110000 c0000202 c0000201"
          "b26e 0035 0008 0000",
          "020000000001 020000000002 0800 4500001c 00010000 40010000 c0000202 c0000201"
          "0800 0000 0000 0000",
          "0180c2000001 020000000002 8808 0001 ffff",
          "0180c2000001 020000000002 8808 0101 00ff 0001 0002 0003 ffff 0005 0006 0007 0008"})
        all.emplace_back(from_hex(other));
    for (const auto& encapsulation : wire_test::encapsulations())
        if (encapsulation.name != "vlan tags")  // more tags than field names
            all.emplace_back(encapsulation.wrap(write));
    all.emplace_back(wire_test::encapsulations().front().wrap(
        wire_test::in_ethernet_ipv4(47, wire_test::joined("000088be", write))));
    add_infiniband(all);
    add_carried(all);
    return all;
}

// "vlan.id" is /vlan/0/id: the JSON has an array where fields have a name per element.
Json::json_pointer pointer(std::string_view field) {
    std::string path = "/" + std::string(field);
    std::ranges::replace(path, '.', '/');
    for (const auto& [name, index] : {std::pair{"/inner_vlan", "/vlan/1"},
                                      {"/vlan", "/vlan/0"},
                                      {"/rpcrdma/segment2", "/rpcrdma/segments/1"},
                                      {"/rpcrdma/segment3", "/rpcrdma/segments/2"},
                                      {"/rpcrdma/segment4", "/rpcrdma/segments/3"},
                                      {"/rpcrdma/segment", "/rpcrdma/segments/0"}})
        if (path.starts_with(name)) {
            path.replace(0, std::string_view(name).size(), index);
            break;
        }
    return Json::json_pointer(path);
}

// Returns the JSON value of a field in the form of a Value; null if it is null or missing.
Json in_json(const Json& packet, const Field& field) {
    auto at = pointer(field.name);
    // These two fields are in either of two headers.
    if (field.name == "va" || field.name == "r_key")
        at = pointer(packet.contains("reth") ? "reth" : "atomiceth") / std::string(field.name);
    if (!packet.contains(at) || packet[at].is_null())
        return {};
    return field.kind == Kind::Present ? Json(true) : packet[at];
}

void add_leaves(const Json& json, const std::string& path, std::set<std::string>& leaves) {
    if (!json.is_structured()) {
        leaves.insert(path);
        return;
    }
    for (const auto& item : json.items())
        add_leaves(item.value(), path + "/" + item.key(), leaves);
}

TEST(Fields, have_the_value_of_the_json_at_their_place) {
    for (Sample& sample : samples()) {
        const View view = sample.view();
        const Json packet = json_of(view);
        for (const Field& field : filter::fields()) {
            if (field.name == "time" || field.name == "bth.transport")
                continue;
            EXPECT_EQ(query_test::json_of(field.of(view), field.kind), in_json(packet, field))
                << field.name << " of " << packet.dump();
        }
    }
}

TEST(Fields, leave_out_nothing_of_the_json) {
    std::set<std::string> leaves;
    for (Sample& sample : samples())
        add_leaves(json_of(sample.view()), "", leaves);
    for (const Field& field : filter::fields())
        leaves.erase(pointer(field.name).to_string());
    EXPECT_EQ(leaves, std::set<std::string>());
}

TEST(Fields, are_all_there_in_some_packet_and_missing_in_another) {
    const std::set<std::string_view> always{"frame", "time", "t_ns", "len", "caplen"};
    auto all = samples();
    for (const Field& field : filter::fields()) {
        const auto has = [&](Sample& sample) { return is_there(field.get(sample.view())); };
        EXPECT_TRUE(std::ranges::any_of(all, has)) << field.name;
        EXPECT_EQ(std::ranges::all_of(all, has), always.contains(field.name)) << field.name;
    }
}

TEST(Fields, of_the_encapsulations_as_a_whole) {
    Sample sample(wire_test::encapsulations().front().wrap(wire_test::in_ethernet_ipv4(
        47, wire_test::joined("000088be", wire::encode(packet_of(0x0a))))));
    const View view = sample.view();
    for (const auto* filter :
         {"outer.kind == 'vxlan,erspan'", "outer.kind contains erspan", "outer.depth == 2",
          "outer.src == 10.9.0.2", "outer.addr == 10.9.0.0/16", "vxlan.vni == 42", "not mpls",
          "erspan.type == 1 and not erspan.spanid", "ip.src != 10.9.0.2"})
        EXPECT_TRUE(filter::Where::parse(filter).matches(view)) << filter;
}

TEST(Fields, the_transport_is_that_of_the_opcode) {
    for (const wire::OpcodeInfo& opcode : wire::opcodes()) {
        auto sample = query_test::sample_of(opcode.value);
        const auto value = filter::find_field("bth.transport")->get(sample.view());
        EXPECT_TRUE(opcode.name.starts_with(std::get<std::string_view>(value))) << opcode.name;
    }
}

TEST(Fields, are_found_by_a_filter_with_what_is_printed) {
    for (Sample& sample : samples())
        for (const Field& field : filter::fields()) {
            const View view = sample.view();
            const filter::Value value = field.get(view);
            if (!is_there(value))
                continue;
            std::string filter(field.name);
            filter += " == \"";
            append(filter, value, field.kind);
            filter += '"';
            EXPECT_TRUE(filter::Where::parse(filter).matches(view)) << filter;
        }
}

// The bits of a header as text: numbers in decimal, longer fields as bytes.
std::string bits_of(util::Bytes header, const wire::Place& place) {
    std::uint64_t number = 0;
    std::string bytes;
    for (std::size_t bit = place.bit; bit < std::size_t{place.bit} + place.width; ++bit) {
        number = number << 1 | (std::to_integer<unsigned>(header[bit / 8]) >> (7 - bit % 8) & 1U);
        if (bit % 8 == 7)
            bytes += static_cast<char>(number & 0xffU);
    }
    return place.width <= 32 || place.width == 64 ? std::to_string(number) : bytes;
}

struct AsBits {
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(bool flag) const { return flag ? "1" : "0"; }
    std::string operator()(const filter::Octets& octets) const {
        return {reinterpret_cast<const char*>(octets.bytes.data()), octets.bytes.size()};
    }
    std::string operator()(const wire::Ipv4Address& address) const {
        const auto& b = address.bytes;
        return std::to_string(std::uint32_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
    }
    template <std::size_t N, typename Tag>
    std::string operator()(const wire::AddressBytes<N, Tag>& address) const {
        return {address.bytes.begin(), address.bytes.end()};
    }
    std::string operator()(const auto&) const { return "no bits"; }
};

TEST(Fields, of_a_header_are_its_bits_and_have_its_name) {
    std::set<std::string_view> seen;
    for (Sample& sample : samples()) {
        const View view = sample.view();
        for (const Field& field : filter::fields()) {
            const auto& [header, bit, width] = field.get.place;
            const auto bytes = view.packet.trail.find(header).of(view.frame);
            if (width == 0 || bytes.size() * 8 < std::size_t{bit} + width)
                continue;
            EXPECT_TRUE(field.name.starts_with(wire::name(header))) << field.name;
            const filter::Value value = field.get(view);
            EXPECT_TRUE(is_there(value)) << field.name;
            EXPECT_EQ(std::visit(AsBits(), value), bits_of(bytes, field.get.place)) << field.name;
            seen.insert(field.name);
        }
    }
    for (const Field& field : filter::fields())
        EXPECT_TRUE(field.get.place.width == 0 || seen.contains(field.name)) << field.name;
}

TEST(Fields, have_names_of_their_own_and_a_description) {
    std::set<std::string_view> names;
    for (const Field& field : filter::fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_FALSE(field.help.empty()) << field.name;
        EXPECT_EQ(filter::find_field(field.name), &field);
    }
}

TEST(Fields, are_found_by_wiresharks_names) {
    const std::pair<std::string_view, std::string_view> names[] = {
        {"frame.number", "frame"},
        {"frame.time_epoch", "time"},
        {"frame.len", "len"},
        {"frame.cap_len", "caplen"},
        {"frame.interface_id", "interface_id"},
        {"frame.interface_name", "interface_name"},
        {"frame.comment", "comment"},
        {"ip.dsfield.dscp", "ip.dscp"},
        {"ip.dsfield.ecn", "ip.ecn"},
        {"ip.flags.df", "ip.df"},
        {"ipv6.tclass.dscp", "ipv6.dscp"},
        {"ipv6.tclass.ecn", "ipv6.ecn"},
        {"infiniband.invariant.crc", "icrc.value"},
        {"infiniband.bth.psn", "bth.psn"},
        {"infiniband.reth.r_key", "r_key"},
        {"infiniband.reth.va", "va"},
        {"infiniband.reth.dmalen", "reth.dmalen"},
        {"infiniband.grh.sgid", "grh.sgid"},
        {"infiniband.mad.method", "mad.method"},
        {"infiniband.cm.rep.localqpn", "cm.rep.localqpn"},
        {"infiniband.cm.req", "cm.req"},
        {"infiniband.cm.req.prim_localgid", "cm.req.prim_localgid"},
        {"infiniband.cm.dreq.localcommid", "cm.dreq.localcommid"},
        {"infiniband.aeth.syndrome.error_code", "aeth.syndrome.error_code"},
    };
    for (const auto& [wiresharks, ours] : names) {
        ASSERT_NE(filter::find_field(wiresharks), nullptr) << wiresharks;
        EXPECT_EQ(filter::find_field(wiresharks)->name, ours);
    }
    for (const auto* none : {"", "infiniband.", "infiniband", "bth.", "bth.psnx", "BTH.PSN", "ps",
                             "infiniband.infiniband.bth.psn", "ip.addr",
                             "infiniband.cm.rtu.localqpn", "infiniband.cm.rep.prim_localgid"})
        EXPECT_EQ(filter::find_field(none), nullptr) << none;
}

TEST(Fields, of_one_message_by_wiresharks_names_are_there_in_no_other) {
    const auto is = [](std::string_view filter, Sample& sample) {
        return filter::Where::parse(filter).matches(sample.view());
    };
    wire_test::CmData data;
    data.put(0, "a1a2a3a4");
    auto request = of_message(wire::CmAttribute::ConnectRequest, data);
    auto reply = of_message(wire::CmAttribute::ConnectReply, data);
    EXPECT_TRUE(is("infiniband.cm.req == 0xa1a2a3a4", request));
    EXPECT_FALSE(is("infiniband.cm.req", reply));
    EXPECT_TRUE(is("infiniband.cm.rep == 0xa1a2a3a4", reply));
    EXPECT_TRUE(is("infiniband.cm.req.localqpn", request));
    EXPECT_FALSE(is("infiniband.cm.req.localqpn", reply));
    EXPECT_FALSE(is("infiniband.cm.rep.localqpn", request));
    EXPECT_TRUE(is("cm.localqpn and infiniband.cm.rep.localqpn", reply));
}

TEST(Fields, the_parts_of_a_syndrome_are_there_by_wiresharks_names) {
    auto packet = packet_of(0x11);
    packet.aeth = wire::Aeth{.syndrome = 0x62, .msn = 9};
    Sample sample(wire::encode(packet));
    std::string row;
    filter::Row(
        "infiniband.aeth.syndrome.opcode,infiniband.aeth.syndrome.error_code,"
        "infiniband.aeth.syndrome.credit_count,infiniband.aeth.syndrome.timer",
        filter::Row::Format::Tsv)
        .append(row, sample.view());
    EXPECT_EQ(row, "3\t2\t\t\n");
}

TEST(Fields, a_similar_name_is_a_letter_or_two_away_or_a_last_part) {
    const std::pair<std::string_view, std::string_view> names[] = {
        {"bth.pns", "bth.psn"}, {"bth.destqpn", "bth.destqp"},     {"bht.psn", "bth.psn"},
        {"psn", "bth.psn"},     {"r_key", "reth.r_key"},           {"icrc.stats", "icrc.status"},
        {"bth_psn", "bth.psn"}, {"infiniband.bth.pns", "bth.psn"}, {"aeth.msm", "aeth.msn"},
    };
    for (const auto& [misspelt, meant] : names)
        EXPECT_EQ(filter::similar_field(misspelt), meant) << misspelt;
    for (const auto* none : {"", "x", "and", "xyz", "something.else", "infiniband."})
        EXPECT_EQ(filter::similar_field(none), "") << none;
    EXPECT_EQ(filter::similar_field(std::string(100'000, 'b')), "");
}

}  // namespace field_test
