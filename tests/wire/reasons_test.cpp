// Names and sentences by which a frame is described, for every code.
#include <gtest/gtest.h>

#include "wire/packet.hpp"

namespace reasons_test {

using wire::Fault;
using wire::NotRoce;

TEST(NotRoce, each_reason_has_a_text_and_says_whether_roce_may_be_inside) {
    struct Case {
        NotRoce reason;
        std::string_view text;
        bool may_hide_roce;
    };
    for (const Case& one :
         {Case{NotRoce::Arp, "ARP", false},
          {NotRoce::MacControl, "MAC control", false},
          {NotRoce::OtherEtherType, "another EtherType", false},
          {NotRoce::Tcp, "TCP", false},
          {NotRoce::OtherIpProtocol, "another IP protocol", false},
          {NotRoce::OtherUdpPort, "another UDP port", false},
          {NotRoce::LaterFragment,
           "an IP fragment without a UDP header; fragments are not reassembled", true},
          {NotRoce::Esp, "ESP, which is encrypted", true},
          {NotRoce::Encapsulation, "an encapsulation that is not decoded", true},
          {NotRoce::TooDeep, "more than 8 encapsulations", true},
          {NotRoce::Undecodable, "neither Ethernet nor IP", true}}) {
        EXPECT_EQ(wire::text(one.reason), one.text);
        wire::Packet packet;
        packet.not_roce = one.reason;
        EXPECT_EQ(wire::may_hide_roce(packet), one.may_hide_roce) << one.text;
    }
    EXPECT_FALSE(wire::may_hide_roce(wire::Packet()));
}

// IANA: ipsec-nat-t, gre-in-udp, vxlan-gpe, mpls-udp.
TEST(NotRoce, only_the_ports_of_tunnels_that_are_not_decoded_may_hide_roce) {
    for (std::uint32_t port = 0; port <= UINT16_MAX; ++port) {
        const std::string_view name = port == 4500   ? "ESP in UDP"
                                      : port == 4754 ? "GRE in UDP"
                                      : port == 4790 ? "VXLAN-GPE"
                                      : port == 6635 ? "MPLS in UDP"
                                                     : "";
        wire::Packet packet;
        packet.not_roce = NotRoce::OtherUdpPort;
        packet.udp = wire::Udp{.src_port = 4500, .dst_port = static_cast<std::uint16_t>(port)};
        ASSERT_EQ(wire::undecoded_tunnel(packet.udp->dst_port), name) << port;
        ASSERT_EQ(wire::may_hide_roce(packet), !name.empty()) << port;
    }
}

// The EtherTypes of IEEE's registry; 0x8903 is Cisco's.
TEST(Ethernet, encapsulations_that_are_not_decoded_have_names) {
    for (std::uint32_t type = 0; type <= UINT16_MAX; ++type) {
        const std::string_view name = type == 0x22f3   ? "TRILL"
                                      : type == 0x8903 ? "FabricPath"
                                      : type == 0x8926 ? "VN-Tag"
                                      : type == 0x88e5 ? "MACsec"
                                      : type == 0x88e7 ? "PBB"
                                      : type == 0x893f ? "802.1BR"
                                      : type == 0x8949 ? "switch mirror"
                                      : type == 0x894f ? "NSH"
                                                       : "";
        ASSERT_EQ(wire::undecoded_encapsulation(static_cast<std::uint16_t>(type)), name) << type;
    }
}

// IBTA volume 1, 13.4.5, as tshark's infiniband.mad.method names them.
TEST(Mad, methods_have_the_names_of_the_specification) {
    const auto name_of = [](int method) -> std::string_view {
        switch (method) {
            case 0x01:
                return "Get()";
            case 0x02:
                return "Set()";
            case 0x03:
                return "Send()";
            case 0x05:
                return "Trap()";
            case 0x06:
                return "Report()";
            case 0x07:
                return "TrapRepress()";
            case 0x12:
                return "GetTable()";
            case 0x13:
                return "GetTraceTable()";
            case 0x14:
                return "GetMulti()";
            case 0x15:
                return "Delete()";
            case 0x81:
                return "GetResp()";
            case 0x86:
                return "ReportResp()";
            case 0x92:
                return "GetTableResp()";
            case 0x94:
                return "GetMultiResp()";
            case 0x95:
                return "DeleteResp()";
            default:
                return "method";
        }
    };
    for (int method = 0; method <= UINT8_MAX; ++method) {
        wire::Mad mad;
        mad.method = static_cast<std::uint8_t>(method);
        EXPECT_EQ(mad.method_name(), name_of(method)) << method;
    }
}

TEST(Malformed, each_fault_has_a_sentence_with_its_numbers) {
    struct Case {
        Fault fault;
        std::string_view what;
        std::string text;
    };
    for (const Case& one :
         {Case{Fault::TooShort, "RETH", "RETH needs 23 bytes, 42 left"},
          {Fault::IpVersion, "IPv4", "IPv4 version is 23"},
          {Fault::IpHeaderLength, "IPv4", "IPv4 header length is 23, below 42"},
          {Fault::LengthTooSmall, "UDP", "UDP length is 23, below the 42 bytes of its own header"},
          {Fault::UdpLength, "UDP", "UDP length is 23, but IP leaves 42 bytes"},
          {Fault::FirstFragment, "IPv6", "RoCE in an IPv6 fragment, which is not reassembled"},
          {Fault::GrhNextHeader, "GRH", "GRH next header is 0x17, not 0x1b"},
          {Fault::TransportVersion, "BTH", "BTH transport version is 23, not 0"},
          {Fault::ReservedOpcode, "BTH", "BTH opcode 0x17 is reserved"},
          {Fault::PadCount, "BTH", "BTH pad count is 23, but payload and padding have 42 bytes"},
          {Fault::UnexpectedPayload, "BTH",
           "23 bytes of payload after an opcode that carries none"}}) {
        EXPECT_EQ((wire::Malformed{.fault = one.fault, .what = one.what, .value = 23, .limit = 42})
                      .text(),
                  one.text);
    }
}

TEST(Truncated, the_reason_says_who_cut_the_packet) {
    wire::Truncated cut{.what = "RETH", .needs = 16, .left = 4};
    EXPECT_EQ(cut.text(), "truncated by snap length: RETH needs 16 bytes, 4 left");
    cut.is_sliced = true;
    EXPECT_EQ(cut.text(), "truncated before the capture: RETH needs 16 bytes, 4 left");
}

}  // namespace reasons_test
