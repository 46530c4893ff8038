// The summary of rocecap decode about packets that are not RoCE.
#include <gtest/gtest.h>

#include "tools/rocecap/capture_file.hpp"
#include "wire/encapsulations.hpp"

namespace others_test {

using wire_test::from_hex;
using wire_test::in_ethernet;
using wire_test::in_ethernet_ipv4;
using wire_test::in_udp;
using wire_test::joined;
using wire_test::Octets;

class OtherPackets : public testing::Test {
  protected:
    void add(const Octets& frame, int count = 1) {
        for (int i = 0; i < count; ++i)
            file_.add(frame, 0);
    }
    std::string errors(const support::Argv& options = {}) const {
        const auto outcome = file_.run("decode", options);
        EXPECT_EQ(outcome.exit_code, 0);
        return outcome.err;
    }
    static Octets tcp() {
        return in_ethernet_ipv4(6, from_hex("b26e 4853 00000001 00000002 5002 0100 00000000"));
    }
    static Octets roce() { return rocecap_test::frame_of(0x0a, 64); }

    rocecap_test::CaptureFile file_{"others.pcapng"};
};

TEST_F(OtherPackets, without_roce_say_what_there_is_the_most_frequent_first) {
    add(in_ethernet("0806", from_hex("0001")), 2);
    add(tcp(), 4);
    add(in_ethernet_ipv4(17, in_udp(4789, joined("08000000 00002a00", tcp()))), 3);
    add(in_ethernet("88cc", from_hex("0001")));
    add(in_ethernet_ipv4(1, from_hex("0800 0000")));
    const std::string expected =
        "rocecap: no RoCE packet in 11 packets: 4 TCP, 3 VXLAN with TCP inside, 2 ARP, 1 EtherType "
        "0x88cc, 1 ICMP\n";
    EXPECT_EQ(errors(), expected);
    EXPECT_EQ(errors({"--json"}), expected);
    EXPECT_EQ(errors({"--where", "frame == 1"}), expected);
}

TEST_F(OtherPackets, are_not_mentioned_beside_roce_unless_they_may_hide_some) {
    add(tcp(), 5);
    add(roce());
    EXPECT_EQ(errors(), "");
    add(in_ethernet_ipv4(50, from_hex("00000001 00000001")), 12);
    add(in_ethernet_ipv4(17, in_udp(4500, from_hex("00000001 00000001"))));
    add(in_ethernet("88e5", from_hex("00000001 00000001")), 2);
    auto fragment = roce();
    fragment[21] = std::byte{0x10};
    add(fragment, 3);
    EXPECT_EQ(errors(),
              "rocecap: 18 packets may have RoCE inside that is not decoded: 12 ESP, 3 later IP "
              "fragments, 2 MACsec, 1 ESP in UDP\n");
}

TEST_F(OtherPackets, an_empty_capture_is_said_to_be_empty) {
    add(tcp(), 0);
    EXPECT_EQ(errors(), "rocecap: the capture has no packet\n");
}

TEST_F(OtherPackets, of_another_protocol_at_port_4791_are_left_out_by_every_command) {
    const Octets answer = from_hex(
        "0400 8180 0001 0001 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001 c00c 0001 0001 "
        "0000003c 0004 c0000235");
    Octets udp = in_udp(4791, answer);
    wire_test::put16(udp, 0, 53);
    add(in_ethernet_ipv4(17, udp), 3);
    add(roce());
    const std::string sentence =
        "rocecap: 3 packets to UDP port 4791 are not RoCE and left out: 10.9.0.2 port 53 → "
        "10.9.0.1; --trust-port decodes them, and net.ipv4.ip_local_reserved_ports reserves the "
        "port on hosts that use RoCE.\n";
    for (const char* command :
         {"decode", "verify", "flows", "explain", "check", "timeline", "psns"}) {
        const auto outcome = file_.run(command);
        EXPECT_NE(outcome.err.find(sentence), std::string::npos) << command << ": " << outcome.err;
        EXPECT_EQ(outcome.out.find("10.9.0.2 → 10.9.0.1, QP"), std::string::npos) << command;
        EXPECT_EQ(file_.run(command, {"--trust-port"}).err.find("left out"), std::string::npos)
            << command;
    }
    for (const char* command : {"report", "annotate"}) {
        const auto outcome = file_.run(command, {"-o", "-"});
        EXPECT_NE(outcome.err.find(sentence), std::string::npos) << command << ": " << outcome.err;
    }
    EXPECT_TRUE(file_.run("verify").out.starts_with("4 packets, 1 of them RoCE\n"));
    EXPECT_TRUE(file_.run("verify", {"--trust-port"}).out.find("4 packets, 4 of them RoCE\n") !=
                std::string::npos);
    EXPECT_EQ(file_.run("explain").exit_code, 0);
}

TEST_F(OtherPackets, kinds_beyond_the_first_are_counted_together) {
    for (int type = 0; type < 300; ++type) {
        auto frame = in_ethernet("a000", from_hex("0001"));
        wire_test::put16(frame, 12, 0xa000U + static_cast<unsigned>(type));
        add(frame);
    }
    const std::string text = errors();
    EXPECT_NE(text.find("no RoCE packet in 300 packets: 45 of other kinds, 1 EtherType 0xa000"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(", 248 of other kinds\n"), std::string::npos) << text;
}

TEST_F(OtherPackets, flow_control_is_counted_by_priority) {
    add(roce());
    const auto pfc = [](std::string_view content) {
        return in_ethernet("8808", from_hex(std::string("0101 ") + std::string(content)));
    };
    add(pfc("0008 0000 0000 0000 ffff 0000 0000 0000 0000"), 3);
    add(pfc("0018 0000 0000 0000 0000 0005 0000 0000 0000"));
    add(in_ethernet("8808", from_hex("0001 ffff")), 2);
    EXPECT_EQ(errors(),
              "rocecap: PFC priority 3: 3 pause, 1 resume; PFC priority 4: 1 pause, 0 resume; "
              "PAUSE: 2 pause, 0 resume\n");
}

}  // namespace others_test
