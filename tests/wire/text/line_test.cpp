// The lines of a listing: columns, times and addresses, and the text for packets without them.
#include "wire/text/line.hpp"

#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "wire/infiniband_frames.hpp"

namespace line_test {

using namespace std::chrono_literals;
using wire_test::from_hex;
using wire_test::Network;

class ListingTest : public testing::Test {
  protected:
    std::string line(const std::vector<std::byte>& frame, std::chrono::nanoseconds time = 0ns,
                     wire::LinkType link = wire::LinkType::Ethernet) {
        return listing_.line(++number_, time, wire::decode(frame, link), frame);
    }
    static std::vector<std::byte> ack(Network network) {
        return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x11), network, 0));
    }
    /// Returns a line without number and time.
    std::string rest(const std::vector<std::byte>& frame,
                     wire::LinkType link = wire::LinkType::Ethernet) {
        return line(frame, 0ns, link).substr(std::string("    1   0.000000  ").size());
    }

  private:
    wire::Listing listing_;
    std::uint64_t number_ = 0;
};

const std::string macs = "020000000001 020000000002 ";
// Returns the Ethernet and IPv4 headers of a packet from 192.0.2.2 to 192.0.2.1. `length` and
// `protocol`: hexadecimal digits.
std::string ipv4(const char* length, const char* protocol) {
    return macs + "0800 4500" + length + "0000 4000 40" + protocol + "0000 c0000202 c0000201 ";
}

TEST_F(ListingTest, times_count_from_the_first_packet) {
    const auto first = 1'700'000'000s;
    EXPECT_EQ(line(ack(Network::Ipv4), first).rfind("    1   0.000000  192.0.2.2", 0), 0U);
    EXPECT_EQ(line(ack(Network::Ipv4), first + 1500us).rfind("    2   0.001500  ", 0), 0U);
    EXPECT_EQ(line(ack(Network::Ipv4), first + 100s).rfind("    3 100.000000  ", 0), 0U);
    EXPECT_EQ(line(ack(Network::Ipv4), first - 1s).rfind("    4  -1.000000  ", 0), 0U);
}

TEST_F(ListingTest, columns_grow_with_the_addresses_and_stay) {
    EXPECT_EQ(rest(ack(Network::Ipv4)).rfind("192.0.2.2 → 192.0.2.1  RC Ack", 0), 0U);
    EXPECT_EQ(rest(ack(Network::Ipv6)).rfind("2001:db8::2 → 2001:db8::1  RC Ack", 0), 0U);
    EXPECT_EQ(rest(ack(Network::Ipv4)).rfind("192.0.2.2   → 192.0.2.1    RC Ack", 0), 0U);
}

TEST_F(ListingTest, version_1_shows_gids) {
    EXPECT_EQ(rest(ack(Network::Grh)).rfind("2001:db8::2 → 2001:db8::1  RC Ack", 0), 0U);
}

TEST_F(ListingTest, tcp_is_named_with_ports_and_what_it_does) {
    const std::string start = "192.0.2.2 → 192.0.2.1  TCP 40000 → 18515";
    const std::string ports = "9c40 4853 00000000 00000000 ";
    EXPECT_EQ(rest(from_hex(ipv4("0028", "06") + ports + "5002 0000 0000 0000")), start + " SYN\n");
    EXPECT_EQ(rest(from_hex(ipv4("0028", "06") + ports + "5010 0000 0000 0000")), start + " ack\n");
    EXPECT_EQ(rest(from_hex(ipv4("002c", "06") + ports + "5018 0000 0000 0000 01020304")),
              start + " len 4\n");
    EXPECT_EQ(rest(from_hex(ipv4("0028", "06") + ports + "5011 0000 0000 0000")), start + " FIN\n");
}

TEST_F(ListingTest, other_packets_are_named) {
    EXPECT_EQ(rest(from_hex(ipv4("0020", "11") + "14e9 0035 000c 0000 01020304")),
              "192.0.2.2 → 192.0.2.1  UDP 5353 → 53 len 4\n");
    EXPECT_EQ(rest(from_hex(ipv4("0014", "01"))), "192.0.2.2 → 192.0.2.1  ICMP\n");
    EXPECT_EQ(rest(from_hex(ipv4("0014", "59"))), "192.0.2.2 → 192.0.2.1  IP protocol 89\n");
}

TEST_F(ListingTest, without_ip_there_are_mac_addresses) {
    EXPECT_EQ(rest(from_hex(macs + "0806 0001")), "02:00:00:00:00:02 → 02:00:00:00:00:01  ARP\n");
    EXPECT_EQ(rest(from_hex(macs + "88cc 0001")),
              "02:00:00:00:00:02 → 02:00:00:00:00:01  EtherType 0x88cc\n");
    EXPECT_EQ(rest(from_hex(macs + "8100 0007 88cc 0001")),
              "02:00:00:00:00:02 → 02:00:00:00:00:01  EtherType 0x88cc\n");
}

TEST_F(ListingTest, without_any_header_the_reason_stands_alone) {
    EXPECT_EQ(rest(from_hex("0200")), " →   malformed: Ethernet header needs 14 bytes, 2 left\n");
}

TEST_F(ListingTest, a_cooked_capture_shows_what_it_has) {
    auto frame = ack(Network::Ipv4);
    const auto cooked = from_hex("0000 0001 0006 020000000002 0000 0800");
    frame.erase(frame.begin(), frame.begin() + wire::Ethernet::size);
    frame.insert(frame.begin(), cooked.begin(), cooked.end());
    EXPECT_EQ(rest(frame, wire::LinkType::LinuxCooked).rfind("192.0.2.2 → 192.0.2.1  RC Ack", 0),
              0U);
}

TEST(ListingColours, are_around_the_same_columns) {
    const auto frame =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x0c), Network::Ipv4, 0));
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    const auto plain = wire::Listing().line(1, 0ns, packet, frame);
    const auto coloured = wire::Listing(util::TextStyle(true)).line(1, 0ns, packet, frame);
    EXPECT_EQ(coloured.rfind("\033[2m    1   0.000000\033[0m  192.0.2.2", 0), 0U) << coloured;
    EXPECT_NE(coloured.find("\033[36mRC RDMA READ Request"), std::string::npos) << coloured;
    EXPECT_EQ(util::display_width(coloured), util::display_width(plain));
}

TEST(ListingWidth, a_line_is_wrapped_below_the_addresses) {
    const auto frame =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x0c), Network::Ipv4, 0));
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    const auto whole = wire::Listing().line(1, 0ns, packet, frame);
    const auto wrapped = wire::Listing(util::TextStyle(true), 80).line(1, 0ns, packet, frame);
    ASSERT_GT(util::display_width(whole), 80U);
    std::istringstream lines(wrapped);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(util::display_width(line), 80U) << line;
        EXPECT_EQ(count > 0, line.starts_with(std::string(18, ' '))) << line;
    }
    EXPECT_GT(count, 1U);
}

TEST_F(ListingTest, infiniband_packets_have_lids_or_gids) {
    const auto& ack = *wire::find_opcode(0x11);
    EXPECT_EQ(rest(wire_test::native_sample(ack, false), wire::LinkType::Infiniband)
                  .rfind("LID 291 → LID 69  RC Acknowledge", 0),
              0U);
    EXPECT_EQ(rest(wire_test::native_sample(ack, true), wire::LinkType::Infiniband)
                  .rfind("2001:db8::2 → 2001:db8::1  RC Acknowledge", 0),
              0U);
}

TEST_F(ListingTest, a_wrong_vcrc_is_reported) {
    auto frame = wire_test::native_sample(*wire::find_opcode(0x11), false);
    frame.back() ^= std::byte{0xff};
    const auto vcrc = util::be16<0>(util::Bytes(frame).last<2>());
    EXPECT_TRUE(rest(frame, wire::LinkType::Infiniband)
                    .ends_with(fmt::format(" VCRC 0x{:04x} is wrong: 0x{:04x} expected\n", vcrc,
                                           vcrc ^ 0xffU)));
}

TEST_F(ListingTest, a_directed_route_shows_its_hop) {
    wire::Mad mad{.mgmt_class = wire::mgmt_class::subnet_management_directed,
                  .method = 1,
                  .class_specific = 0x0102,
                  .attribute_id = 0x11};
    const auto frame = wire_test::native_mad(mad, {}, wire::smi_qpn);
    EXPECT_NE(rest(frame, wire::LinkType::Infiniband).find("SM Get(NodeInfo)"), std::string::npos);
    EXPECT_TRUE(rest(frame, wire::LinkType::Infiniband).ends_with(" hop 1 of 2\n"));
    mad.status = 0x8000;
    EXPECT_TRUE(rest(wire_test::native_mad(mad, {}, wire::smi_qpn), wire::LinkType::Infiniband)
                    .ends_with(" hop 1 of 2 returning\n"));
}

TEST_F(ListingTest, packets_of_infiniband_without_a_bth_are_named) {
    const auto infiniband = [&](std::string_view hex) {
        return rest(from_hex(hex), wire::LinkType::Infiniband);
    };
    EXPECT_EQ(infiniband("0000 0005 0003 0006 00001123"),
              "LID 6 → LID 5  raw InfiniBand packet, EtherType 0x1123\n");
    EXPECT_EQ(infiniband("0001 0005 0003 0006 60000000"),
              "LID 6 → LID 5  raw InfiniBand packet, IPv6\n");
    EXPECT_EQ(rest(wire_test::erf_record(25, from_hex("0000")), wire::LinkType::Erf),
              "      →        InfiniBand link packet\n");
    EXPECT_EQ(rest(wire_test::erf_record(1, from_hex("0000")), wire::LinkType::Erf),
              "      →        ERF type 1\n");
}

}  // namespace line_test
