// Names of fields: Wireshark's list, compared with the names that rocecap accepts.
#include <arpa/inet.h>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "filter/sample_view.hpp"
#include "support/process.hpp"
#include "support/tshark_fields.hpp"
#include "trace/service/capsules.hpp"
#include "trace/service/services.hpp"
#include "wire/encapsulations.hpp"
#include "wire/infiniband_frames.hpp"

namespace wireshark_names_test {

using Names = std::set<std::string, std::less<>>;

// Returns the names that a Wireshark filter can use: protocols and fields.
const Names& wiresharks() {
    static const Names names = [] {
        Names all;
        std::istringstream lines(support::run({"tshark", "-G", "fields"}).out);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream columns(line);
            std::string type;
            std::string text;
            std::string name;
            std::getline(columns, type, '\t');
            std::getline(columns, text, '\t');
            std::getline(columns, name, '\t');
            if (type == "F" || type == "P")
                all.insert(name);
        }
        return all;
    }();
    return names;
}

// Returns Wireshark's name for a field of the table, or an empty string if there is none.
std::string wiresharks_name(const filter::Field& field) {
    if (!field.extra.wireshark.empty())
        return std::string(field.extra.wireshark);
    const std::string name(field.name);
    const std::string infiniband = "infiniband." + name;
    return wiresharks().contains(infiniband) ? infiniband : wiresharks().contains(name) ? name : "";
}

bool is_wireshark_4_0() {
    return support::run({"tshark", "--version"}).out.find("Wireshark) 4.0.") != std::string::npos;
}

// Wireshark 4.0 has no field for these. Later versions have a field for some of them.
const Names only_ours{
    "t_ns",
    "inner_vlan",
    "inner_vlan.priority",
    "inner_vlan.dei",
    "inner_vlan.id",
    "inner_vlan.etype",
    "outer",
    "outer.depth",
    "outer.kind",
    "outer.src",
    "outer.dst",
    "nvgre",
    "nvgre.vsid",
    "erspan.type",
    "mpls.labels",
    "pfc",
    "pause",
    "bth.opcode_name",
    "bth.transport",
    "bth.fecn",
    "bth.becn",
    "dceth",
    "dceth.bytes",
    "xrceth",
    "xrceth.xrcsrq",
    "feth",
    "feth.plt",
    "feth.sel",
    "atomiceth.va",
    "atomiceth.r_key",
    "aeth.type",
    "aeth.credits",
    "aeth.timer_ms",
    "aeth.error",
    "payload_len",
    "icrc",
    "icrc.status",
    "icrc.computed",
    "icrc.right_with_srcport",
    "icrc.hint",
    "icrc.reason",
    "vcrc",
    "vcrc.status",
    "vcrc.computed",
    "mad.name",
    "smp",
    "not_roce",
    "truncated",
    "malformed",
    // The layer above RDMA.
    "upper_problem",
    "nvme.cmd",
    "nvme.cmd.name",
    "nvme.cmd.connect",
    "nvme.cmd.property",
    "nvme.cmd.property.name",
    "nvme.cqe",
    "nvme.cqe.status_name",
    "nvme.cm",
    "nvme.cm.recfmt",  // Wireshark has a name for each message
    "nvme.cm.status_name",
    "rpcrdma",
    "rpcrdma.segment",
    "rpcrdma.segment.list",
    "rpcrdma.segment2",
    "rpcrdma.segment2.list",
    "rpcrdma.segment2.position",
    "rpcrdma.segment2.handle",
    "rpcrdma.segment2.length",
    "rpcrdma.segment2.offset",
    "rpcrdma.segment3",
    "rpcrdma.segment3.list",
    "rpcrdma.segment3.position",
    "rpcrdma.segment3.handle",
    "rpcrdma.segment3.length",
    "rpcrdma.segment3.offset",
    "rpcrdma.segment4",
    "rpcrdma.segment4.list",
    "rpcrdma.segment4.position",
    "rpcrdma.segment4.handle",
    "rpcrdma.segment4.length",
    "rpcrdma.segment4.offset",
    "rpcrdma.cm",
    "rpcrdma.cm.version",
    "rpcrdma.cm.flags",
    "rpcrdma.cm.send_size",
    "rpcrdma.cm.recv_size",
    "rpc.name",
    "nfs.ops",
    "iser.cm",
    "iser.cm.zbva_not_sup",
    "iser.cm.send_w_inv_not_sup",
    "iscsi.name",
    "iscsi.scsi_opcode",
    "iscsi.scsi_name",
};

// Fields of infiniband.* that rocecap does not decode or does not show.
const Names not_decoded{
    "infiniband.bth.reserved7",
    "infiniband.aeth.syndrome.reserved",
    "infiniband.cm.req.serviceid.prefix",
    "infiniband.cm.req.serviceid.protocol",
    "infiniband.cm.req.prim_reserved0",
    "infiniband.cm.req.prim_reserved1",
    "infiniband.cm.req.prim_reserved2",
    "infiniband.cm.req.alt_reserved0",
    "infiniband.cm.req.alt_reserved1",
    "infiniband.cm.req.ip_cm.reserved",
    "infiniband.cm.rep.reserved",
    "infiniband.cm.rej.rejinfolen",
    "infiniband.cm.rej.reserved0",
    "infiniband.cm.rej.reserved1",
    "infiniband.mad.data",
    "infiniband.lrh.reserved2",
    "infiniband.lrh.reserved5",
    "infiniband.smplid",
    "infiniband.smplid.smpdata",
    "infiniband.smpdirected",
    "infiniband.smpdirected.smpstatus",
    "infiniband.smpdirected.initialpath",
    "infiniband.smpdirected.returnpath",
};

TEST(WiresharkNames, each_field_of_the_table_has_one_that_finds_it_or_is_only_ours) {
    ASSERT_GT(wiresharks().size(), 100'000U);
    for (const filter::Field& field : filter::fields()) {
        if (field.name.starts_with("cm"))  // one for each message: the next test
            continue;
        const std::string name = wiresharks_name(field);
        EXPECT_TRUE(!name.empty() || only_ours.contains(field.name)) << field.name;
        if (!name.empty()) {
            EXPECT_TRUE(wiresharks().contains(name)) << name;
            const filter::Field* found = filter::find_field(name);
            ASSERT_NE(found, nullptr) << name;
            // One name for two headers: either header's field.
            const bool is_of_either = name.starts_with("infiniband.reth.");
            EXPECT_TRUE(found == &field || is_of_either) << name << " is " << found->name;
        }
    }
}

TEST(WiresharkNames, each_of_a_header_that_is_decoded_is_understood) {
    if (!is_wireshark_4_0())
        GTEST_SKIP() << "the list of what is not decoded is that of Wireshark 4.0";
    const std::string_view headers[] = {"grh",    "bth",          "rdeth",     "deth", "reth",
                                        "aeth",   "atomicacketh", "immdt",     "ieth", "atomiceth",
                                        "mad",    "cm",           "invariant", "lrh",  "rwh",
                                        "smplid", "smpdirected",  "variant"};
    std::map<std::string_view, int> found;
    for (const std::string& name : wiresharks()) {
        const std::string_view prefix = "infiniband.";
        if (!name.starts_with(prefix))
            continue;
        const std::string_view own = std::string_view(name).substr(prefix.size());
        const std::string_view header = own.substr(0, own.find('.'));
        if (std::ranges::find(headers, header) == std::end(headers))
            continue;
        ++found[header];
        EXPECT_EQ(filter::find_field(name) == nullptr, not_decoded.contains(name)) << name;
    }
    for (const std::string_view header : headers)
        EXPECT_GT(found[header], 0) << header;
    EXPECT_GT(found["cm"], 90);
}

using query_test::Sample;

// Every opcode and encapsulation, MAC control, and the connection manager's messages with random
// content.
std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (const auto& frame : wire_test::sample_set())
        all.emplace_back(frame);
    for (const auto& encapsulation : wire_test::encapsulations())
        all.emplace_back(encapsulation.wrap(wire::encode(query_test::packet_of(0x0a))));
    for (const auto* control :
         {"8808 0001 ffff", "8808 0101 00ff 0001 0002 0003 0004 0005 0006 0007 0008"})
        all.emplace_back(wire_test::from_hex("0180c2000001 020000000002" + std::string(control)));
    for (const std::uint8_t mgmt_class : {std::uint8_t{0x01}, std::uint8_t{0x81}})
        all.emplace_back(
            wire_test::erf_record(
                21, wire_test::native_mad({.mgmt_class = mgmt_class, .class_specific = 0x0102},
                                          wire_test::sample_payload(40), wire::smi_qpn)),
            0, wire::LinkType::Erf);
    all.emplace_back(wire_test::from_hex("0000 0005 0003 0006 00001123"), 0,
                     wire::LinkType::Infiniband);
    std::mt19937_64 random(6);  // NOLINT(cert-msc51-cpp): the same packets in every run
    for (unsigned attribute = 0x10; attribute <= 0x1a; ++attribute)
        for (const auto network : wire_test::all_networks)
            for (const unsigned ip_version : {0x00, 0x40, 0x60}) {
                std::vector<std::byte> data(wire::Mad::data_size);
                for (std::byte& byte : data)
                    byte = static_cast<std::byte>(random());
                if (ip_version != 0) {  // a request of rdma_cm
                    const auto service = wire_test::from_hex("0000 0000 0106 4853");
                    std::ranges::copy(service, data.begin() + 8);
                    data[140] = std::byte{0};
                    data[141] = static_cast<std::byte>(ip_version);
                }
                all.emplace_back(wire::encode(wire_test::cm_packet(
                    wire_test::cm_mad(static_cast<wire::CmAttribute>(attribute), data), network)));
            }
    service::Services services;
    for (const auto& frames :
         {service_test::nvme_frames(), service_test::rpc_frames(), service_test::iser_frames()})
        for (const auto& frame : frames) {
            Sample sample(frame);
            sample.carrying(services.see(sample.view().packet));
            all.push_back(std::move(sample));
        }
    return all;
}

// Returns the last four bytes of a GID as an IPv4 address.
std::string ipv4_in(const std::string& gid) {
    wire::Gid bytes;
    inet_pton(AF_INET6, gid.c_str(), bytes.bytes.data());
    wire::Ipv4Address address;
    std::copy(bytes.bytes.end() - 4, bytes.bytes.end(), address.bytes.begin());
    return text(address);
}

// A field found by Wireshark's name has the same value as the JSON member that `make test` compares
// with this field of tshark.
TEST(WiresharkNames, each_that_is_compared_with_tshark_has_the_value_of_the_json) {
    std::map<std::string_view, int> compared;
    for (Sample& sample : samples()) {
        const auto view = sample.view();
        const auto packet = nlohmann::json::parse(query_test::json_text(view));
        for (const support::Field& field : support::fields()) {
            const filter::Field* found = filter::find_field(field.theirs);
            ASSERT_NE(found, nullptr) << field.theirs;
            // In rocecap, vlan is the outer one of two tags, in Wireshark the one of IEEE 802.1Q.
            // In rocecap, ip belongs to the innermost packet of an encapsulation, in Wireshark to
            // the first. Wireshark uses one name for all segments of a chunk.
            if ((field.occurrence != 0 && field.ours.starts_with("/rpcrdma/")) ||
                field.ours.starts_with("/vlan/1") || field.ours.starts_with("/outer/"))
                continue;
            const nlohmann::json::json_pointer at{std::string(field.ours)};
            const auto value = query_test::json_of(found->of(view), found->kind);
            if (applies(field, packet) && packet.contains(at)) {
                ++compared[field.theirs];
                const auto expected = field.kind == support::Kind::GidOfIpv4
                                          ? '"' + ipv4_in(packet[at].get<std::string>()) + '"'
                                          : packet[at].dump();
                EXPECT_EQ(value.dump(), expected) << field.theirs << " of " << packet.dump();
            } else if (field.theirs.starts_with("infiniband.cm.") &&
                       field.theirs.find("prim_") == std::string_view::npos) {
                EXPECT_TRUE(value.is_null()) << field.theirs << " of " << packet.dump();
            }
        }
    }
    for (const support::Field& field : support::fields())
        EXPECT_TRUE(compared[field.theirs] > 0 || field.theirs.starts_with("ieee8021ad"))
            << field.theirs;
}

}  // namespace wireshark_names_test
