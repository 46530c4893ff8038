// Native InfiniBand beside tshark, in ERF records as ibdump writes them: Wireshark 4.0 does not know
// link type 247, with which the same packets must have the same headers.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/file_source.hpp"
#include "differential/made_capture.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"
#include "wire/infiniband_frames.hpp"

namespace infiniband_tshark_test {

using differential::MadeCapture;
using wire::LinkType;
using wire_test::from_hex;

// Each opcode with and without a GRH.
template <typename Add>
void each_opcode(Add add) {
    for (const wire::OpcodeInfo& opcode : wire::opcodes())
        for (const bool has_grh : {false, true})
            add(wire_test::native_sample(opcode, has_grh));
}

// MADs of each class that tshark takes apart, and of some that it does not.
template <typename Add>
void each_mad(Add add) {
    std::vector<std::byte> data(wire::Mad::data_size);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>(i);
    const auto mad = [&](std::uint8_t mgmt_class, std::uint16_t attribute, std::uint32_t qpn,
                         std::uint16_t status = 0) {
        add(wire_test::native_mad({.mgmt_class = mgmt_class,
                                   .class_version = 1,
                                   .method = 0x81,
                                   .status = status,
                                   .class_specific = 0x0203,
                                   .transaction_id = 0x0102030405060708,
                                   .attribute_id = attribute,
                                   .attribute_modifier = 0x11121314},
                                  data, qpn));
    };
    mad(0x01, 0x10, 0);
    mad(0x01, 0x11, 0);
    mad(0x01, 0x15, 0);
    mad(0x81, 0x11, 0);
    mad(0x81, 0x11, 0, 0x8000);
    mad(0x03, 0x35, 1);
    mad(0x04, 0x12, 1);
    mad(0x07, 0x14, 1);
}

// A capture of ERF records.
class Records {
  public:
    explicit Records(const std::string& name) : capture_(name, LinkType::Erf) {}

    void add(util::Bytes frame) { capture_.add(wire_test::erf_record(21, frame)); }
    void compare(std::uint64_t of_a_packet = 20) { capture_.compare(of_a_packet); }

  private:
    MadeCapture capture_;
};

TEST(Infiniband, every_opcode_is_what_tshark_sees) {
    Records records("erf");
    each_opcode([&](util::Bytes frame) { records.add(frame); });
    records.compare();
}

TEST(Infiniband, management_datagrams_are_what_tshark_sees) {
    Records records("mads");
    each_mad([&](util::Bytes frame) { records.add(frame); });
    records.compare();
}

TEST(Infiniband, raw_packets_are_what_tshark_sees) {
    Records records("raw_infiniband");
    records.add(from_hex("0000 0005 0006 0001 00001234 00000000 00000000 00000000 0000"));
    records.compare(9);
}

TEST(Infiniband, link_type_247_has_the_headers_of_a_record) {
    MadeCapture direct("infiniband", LinkType::Infiniband);
    MadeCapture records("infiniband_in_erf", LinkType::Erf);
    const auto add = [&](util::Bytes frame) {
        direct.add(frame);
        records.add(wire_test::erf_record(21, frame));
    };
    each_opcode(add);
    each_mad(add);
    const auto decoded = [](const std::string& path) {
        std::vector<nlohmann::json> packets;
        std::istringstream lines(support::run({support::rocecap(), "decode", "--json", path}).out);
        for (std::string line; std::getline(lines, line);) {
            packets.push_back(nlohmann::json::parse(line));
            for (const auto* own : {"len", "caplen", "erf"})
                packets.back().erase(own);
        }
        return packets;
    };
    EXPECT_EQ(decoded(direct.path()), decoded(records.path()));
    EXPECT_GE(decoded(direct.path()).size(), 2 * wire::opcodes().size());
}

// The packets of the reference runs, as if they had been sent over InfiniBand.
template <typename Native>
void compare_samples(const std::string& name, Native native) {
    Records records(name);
    int packets = 0;
    for (const auto& folder : std::filesystem::directory_iterator("captures/samples")) {
        const auto file = folder.path() / "annotated.pcapng";
        // tshark takes SENDs for RPC over RDMA by their payload only, and that is off here.
        if (!std::filesystem::exists(file) || folder.path().filename() == "27nfs_read")
            continue;
        capture::FileSource source(file.string());
        while (const auto frame = source.next()) {
            const auto roce = wire::decode(frame->bytes, frame->link_type, frame->original_length);
            if (!roce.is_complete() || roce.icrc->status != wire::IcrcStatus::Good)
                continue;
            // Each end of a connection has an address of its own, as it had on Ethernet.
            const bool forth = roce.ethernet->src < roce.ethernet->dst;
            const auto sent = native(roce, frame->bytes, forth);
            const auto packet = wire::decode(sent, LinkType::Infiniband);
            ASSERT_TRUE(packet.is_complete());
            EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
            EXPECT_EQ(packet.vcrc->status(), wire::IcrcStatus::Good);
            EXPECT_EQ(packet.bth, roce.bth);
            EXPECT_EQ(packet.reth, roce.reth);
            EXPECT_EQ(packet.aeth, roce.aeth);
            EXPECT_EQ(packet.mad, roce.mad);
            EXPECT_TRUE(std::ranges::equal(packet.payload, roce.payload));
            records.add(sent);
            ++packets;
        }
    }
    EXPECT_GE(packets, 1000);
    records.compare();
}

// The LIDs of a packet in one direction, and in the other.
wire_test::Link link(bool forth) {
    wire_test::Link link;
    if (!forth)
        std::swap(link.slid, link.dlid);
    return link;
}

TEST(Infiniband, the_reference_runs_as_local_packets_are_what_tshark_sees) {
    compare_samples("local_samples", [](const wire::Packet& roce, util::Bytes frame, bool forth) {
        return wire_test::native_packet(wire_test::transport_of(roce, frame), {}, link(forth));
    });
}

TEST(Infiniband, the_reference_runs_as_global_packets_are_what_tshark_sees) {
    compare_samples("global_samples", [](const wire::Packet& roce, util::Bytes frame, bool forth) {
        const wire::Gid one{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}};
        const wire::Gid other{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1}};
        const wire::Grh grh{.hoplmt = 3, .sgid = forth ? one : other, .dgid = forth ? other : one};
        return wire_test::native_packet(wire_test::transport_of(roce, frame), grh, link(forth));
    });
}

}  // namespace infiniband_tshark_test
