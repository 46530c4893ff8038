// The offset and length of each header, counted by hand. packet_invariants.hpp requires that the
// spans cover the frame; the robustness tests check this for every prefix of every sample.
#include "wire/header_span.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "filter/json.hpp"
#include "util/json.hpp"
#include "wire/each_header.hpp"
#include "wire/encapsulations.hpp"
#include "wire/packet_invariants.hpp"
#include "wire/sample_set.hpp"

namespace header_span_test {

using wire::LinkType;
using wire_test::from_hex;
using wire_test::Network;
using Spans = std::vector<wire::HeaderSpan>;

constexpr LinkType links[] = {LinkType::Ethernet, LinkType::LinuxCooked, LinkType::LinuxCooked2,
                              LinkType::RawIp};

Spans spans_of(const std::vector<std::byte>& frame, LinkType link = LinkType::Ethernet) {
    return wire::header_spans(wire::decode(frame, link), frame);
}

// Returns "eth 0+14, ip 14+20", a form in which gtest's diff is readable.
std::string text(const Spans& spans) {
    std::string all;
    for (const auto& span : spans)
        all += (all.empty() ? "" : ", ") + std::string(wire::name(span.header)) + ' ' +
               std::to_string(span.offset) + '+' + std::to_string(span.length);
    return all;
}

std::vector<std::byte> sample(std::uint8_t opcode, Network network, std::size_t payload,
                              std::uint8_t vlans = 0) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(opcode), network, payload);
    packet.vlans.count = vlans;
    return wire::encode(packet);
}

// Returns a frame with "GET" after a TCP header, and three bytes of Ethernet padding.
std::vector<std::byte> tcp_frame(std::string_view link, std::string_view options) {
    const std::size_t header = 20 + from_hex(options).size();
    return from_hex(
        fmt::format("{} 4500 {:04x} 00000000 4006 0000 c0000202 c0000201 "
                    "9c40 4853 00000001 00000000 {:02x}18 1000 0000 0000 {} "
                    "474554 000000",
                    link, 20 + header + 3, header / 4 << 4, options));
}

constexpr std::string_view ethernet_ipv4 = "020000000001 020000000002 0800";

TEST(HeaderSpans, of_the_first_packet_of_a_write) {
    EXPECT_EQ(text(spans_of(sample(0x06, Network::Ipv4, 1024))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, reth 54+16, payload 70+1024, icrc 1094+4");
}

TEST(HeaderSpans, of_the_last_response_to_a_read_with_its_padding) {
    EXPECT_EQ(text(spans_of(sample(0x0f, Network::Ipv4, 7))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, aeth 54+4, payload 58+7, pad 65+1, "
              "icrc 66+4");
}

TEST(HeaderSpans, of_an_atomic_and_its_answer) {
    EXPECT_EQ(text(spans_of(sample(0x13, Network::Ipv4, 0))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, atomiceth 54+28, icrc 82+4");
    EXPECT_EQ(text(spans_of(sample(0x12, Network::Ipv4, 0))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, aeth 54+4, atomicacketh 58+8, icrc 66+4");
}

TEST(HeaderSpans, of_roce_v1) {
    EXPECT_EQ(text(spans_of(sample(0x0b, Network::Grh, 4))),
              "eth 0+14, grh 14+40, bth 54+12, reth 66+16, immdt 82+4, payload 86+4, icrc 90+4");
}

TEST(HeaderSpans, of_two_vlan_tags_before_ipv6) {
    EXPECT_EQ(text(spans_of(sample(0x17, Network::Ipv6, 1, 2))),
              "eth 0+14, vlan 14+4, vlan 18+4, ipv6 22+40, udp 62+8, bth 70+12, ieth 82+4, "
              "payload 86+1, pad 87+3, icrc 90+4");
}

TEST(HeaderSpans, of_datagrams_and_of_headers_that_few_packets_have) {
    EXPECT_EQ(text(spans_of(sample(0x5c, Network::Ipv4, 0))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, rdeth 54+4, deth 58+8, feth 66+4, "
              "reth 70+16, icrc 86+4");
    EXPECT_EQ(text(spans_of(sample(0xac, Network::Ipv4, 0))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, xrceth 54+4, reth 58+16, icrc 74+4");
    EXPECT_EQ(text(spans_of(sample(0x81, Network::Ipv4, 0))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, reserved 54+16, icrc 70+4");
}

TEST(HeaderSpans, of_a_connect_request) {
    const std::vector<std::byte> data(wire::Mad::data_size);
    const auto mad = wire_test::cm_mad(wire::CmAttribute::ConnectRequest, data);
    const auto frame = wire::encode(wire_test::cm_packet(mad, Network::Ipv4));
    EXPECT_EQ(text(spans_of(frame)),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, deth 54+8, mad 62+24, cm 86+232, "
              "icrc 318+4");
}

TEST(HeaderSpans, of_a_datagram_that_is_none_of_the_connection_manager) {
    auto mad = wire_test::cm_mad(wire::CmAttribute::ConnectRequest,
                                 std::vector<std::byte>(wire::Mad::data_size));
    mad[1] = std::byte{wire::mgmt_class::performance};
    EXPECT_EQ(text(spans_of(wire::encode(wire_test::cm_packet(mad, Network::Ipv4)))),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, deth 54+8, mad 62+24, payload 86+232, "
              "icrc 318+4");
}

TEST(HeaderSpans, of_a_tcp_segment) {
    EXPECT_EQ(text(spans_of(tcp_frame(ethernet_ipv4, ""))),
              "eth 0+14, ip 14+20, tcp 34+20, data 54+3, trailer 57+3");
    EXPECT_EQ(text(spans_of(tcp_frame(ethernet_ipv4, "0101080a 00000001 00000002"))),
              "eth 0+14, ip 14+20, tcp 34+32, data 66+3, trailer 69+3");
}

TEST(HeaderSpans, of_a_tcp_segment_behind_a_tag_in_a_cooked_capture) {
    EXPECT_EQ(text(spans_of(tcp_frame("0000 0001 0006 525400000202 0000 8100 0005 0800", ""),
                            LinkType::LinuxCooked)),
              "sll 0+16, vlan 16+4, ip 20+20, tcp 40+20, data 60+3, trailer 63+3");
}

TEST(HeaderSpans, of_a_tcp_header_whose_length_is_too_small) {
    auto frame = tcp_frame(ethernet_ipv4, "");
    frame[34 + 12] = std::byte{0x40};
    EXPECT_EQ(text(spans_of(frame)), "eth 0+14, ip 14+20, tcp 34+20, rest 54+3, trailer 57+3");
}

TEST(HeaderSpans, of_cooked_captures_and_of_raw_ip) {
    const auto frame = sample(0x11, Network::Ipv4, 0);
    const auto behind = [&](LinkType link, std::string_view header) {
        return text(spans_of(wire_test::behind(link, header, frame).bytes, link));
    };
    EXPECT_EQ(behind(LinkType::LinuxCooked, "0000 0001 0006 525400000202 0000 0800"),
              "sll 0+16, ip 16+20, udp 36+8, bth 44+12, aeth 56+4, icrc 60+4");
    EXPECT_EQ(behind(LinkType::LinuxCooked2, "0800 0000 00000002 0001 00 06 525400000202 0000"),
              "sll 0+20, ip 20+20, udp 40+8, bth 48+12, aeth 60+4, icrc 64+4");
    EXPECT_EQ(behind(LinkType::RawIp, ""), "ip 0+20, udp 20+8, bth 28+12, aeth 40+4, icrc 44+4");
}

TEST(HeaderSpans, count_options_and_extension_headers_to_ip) {
    auto ipv4 = sample(0x11, Network::Ipv4, 0);
    ipv4.insert(ipv4.begin() + 34, 4, std::byte{1});  // four "no operation" options
    ipv4[14] = std::byte{0x46};
    ipv4[17] = static_cast<std::byte>(std::to_integer<unsigned>(ipv4[17]) + 4);
    EXPECT_EQ(text(spans_of(ipv4)),
              "eth 0+14, ip 14+24, udp 38+8, bth 46+12, aeth 58+4, icrc 62+4");

    // Hop-by-hop options of 16 bytes, then destination options of 8.
    auto ipv6 = sample(0x11, Network::Ipv6, 0);
    const auto headers = from_hex("3c01 00000000 0000 0000000000000000 1100 00000000 0000");
    ipv6.insert(ipv6.begin() + 54, headers.begin(), headers.end());
    ipv6[20] = std::byte{0};
    ipv6[19] = static_cast<std::byte>(std::to_integer<unsigned>(ipv6[19]) + headers.size());
    EXPECT_EQ(text(spans_of(ipv6)),
              "eth 0+14, ipv6 14+64, udp 78+8, bth 86+12, aeth 98+4, icrc 102+4");
}

TEST(HeaderSpans, of_a_tag_after_an_llc_header) {
    const auto untagged = sample(0x11, Network::Ipv4, 0);
    const auto link =
        from_hex("020000000001 020000000002 8100 0001 0040 aaaa03 000000 8100 0002 0800");
    EXPECT_EQ(
        text(spans_of(wire_test::joined(link, wire_test::packet_of(untagged)))),
        "eth 0+14, vlan 14+4, llc 18+12, ip 30+20, udp 50+8, bth 58+12, aeth 70+4, icrc 74+4");
}

// Bytes before a header are a part of the encapsulation, whatever they are.
TEST(HeaderSpans, of_an_encapsulated_packet_are_those_of_the_packet_behind_it) {
    const auto frame = sample(0x0a, Network::Ipv4, 7);
    for (const auto& encapsulation : wire_test::encapsulations()) {
        if (encapsulation.text.empty())
            continue;
        const auto wrapped = encapsulation.wrap(frame);
        Spans expected{{wire::Header::Outer, 0, wrapped.size() - frame.size()}};
        if (!encapsulation.carries_ethernet)
            expected[0].length += wire::Ethernet::size;
        for (auto span : spans_of(frame)) {
            span.offset += wrapped.size() - frame.size();
            if (encapsulation.carries_ethernet || span.header != wire::Header::Ethernet)
                expected.push_back(span);
        }
        EXPECT_EQ(text(spans_of(wrapped)), text(expected)) << encapsulation.name;
    }
}

TEST(HeaderSpans, of_frames_that_are_not_ip) {
    // A bridge's spanning tree: the length field, 38 bytes, ends before the frame does.
    auto tree = from_hex("0180c2000000 020000000002 0026 424203");
    tree.resize(60);
    EXPECT_EQ(text(spans_of(tree)), "eth 0+14, rest 14+38, trailer 52+8");
    EXPECT_EQ(text(spans_of(from_hex("020000000001 020000000002 000a aaaa03 000000 0806 0001"))),
              "eth 0+14, llc 14+8, rest 22+2");
}

TEST(HeaderSpans, end_where_the_length_fields_do) {
    auto padded = sample(0x11, Network::Ipv4, 0);
    padded.resize(padded.size() + 5);
    EXPECT_EQ(text(spans_of(padded)),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, aeth 54+4, icrc 58+4, trailer 62+5");

    auto shorter = sample(0x04, Network::Ipv4, 8);  // UDP ends four bytes before IP
    shorter[39] = static_cast<std::byte>(std::to_integer<unsigned>(shorter[39]) - 4);
    EXPECT_EQ(text(spans_of(shorter)),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, payload 54+4, icrc 58+4, trailer 62+4");
}

TEST(HeaderSpans, have_no_icrc_where_the_end_is_not_in_the_frame) {
    auto fragment = sample(0x04, Network::Ipv4, 8);
    fragment[20] = std::byte{0x20};  // more fragments
    fragment.resize(fragment.size() + 2);
    EXPECT_EQ(text(spans_of(fragment)),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, payload 54+12, trailer 66+2");
    auto later = sample(0x04, Network::Ipv4, 8);
    later[21] = std::byte{1};
    EXPECT_EQ(text(spans_of(later)), "eth 0+14, ip 14+20, rest 34+32");
}

TEST(HeaderSpans, of_a_pad_count_that_cannot_be) {
    auto frame = sample(0x04, Network::Ipv4, 0);
    frame[43] = std::byte{0x30};
    EXPECT_EQ(text(spans_of(frame)), "eth 0+14, ip 14+20, udp 34+8, bth 42+12, icrc 54+4");
}

TEST(HeaderSpans, leave_the_rest_where_decoding_ends) {
    EXPECT_EQ(text(spans_of(from_hex("020000000001 020000000002 0806 0001 0800"))),
              "eth 0+14, rest 14+4");
    EXPECT_EQ(text(spans_of(from_hex("0200000000"))), "rest 0+5");
    EXPECT_EQ(text(spans_of({})), "");

    auto frame = sample(0x0a, Network::Ipv4, 8);
    frame.resize(54 + 10);
    const auto cut = wire::decode(frame, LinkType::Ethernet, frame.size() + 100);
    EXPECT_EQ(text(wire::header_spans(cut, frame)),
              "eth 0+14, ip 14+20, udp 34+8, bth 42+12, rest 54+10");

    frame[14] = std::byte{0x55};  // IP version 5: its lengths are ignored
    EXPECT_EQ(text(spans_of(frame)), "eth 0+14, ip 14+20, rest 34+30");

    auto dns = sample(0x0a, Network::Ipv4, 8);
    dns[37] = std::byte{53};
    dns.push_back({});
    EXPECT_EQ(text(spans_of(dns)), "eth 0+14, ip 14+20, udp 34+8, rest 42+40, trailer 82+1");
}

TEST(HeaderSpans, have_what_was_captured_of_payload_and_icrc) {
    auto frame = sample(0x0f, Network::Ipv4, 7);
    const std::size_t whole = frame.size();
    const auto cut = [&](std::size_t size) {
        frame.resize(size);
        return text(wire::header_spans(wire::decode(frame, LinkType::Ethernet, whole), frame));
    };
    const std::string headers = "eth 0+14, ip 14+20, udp 34+8, bth 42+12, aeth 54+4, ";
    EXPECT_EQ(cut(69), headers + "payload 58+7, pad 65+1, icrc 66+3");
    EXPECT_EQ(cut(66), headers + "payload 58+7, pad 65+1");
    EXPECT_EQ(cut(60), headers + "payload 58+2");
}

std::optional<wire::HeaderSpan> find(const Spans& spans, std::string_view name) {
    const auto it = std::ranges::find_if(
        spans, [&](const wire::HeaderSpan& span) { return wire::name(span.header) == name; });
    return it == spans.end() ? std::nullopt : std::optional(*it);
}

TEST(HeaderSpans, leave_no_rest_of_a_complete_packet) {
    for (const auto& [link, frame] : wire_test::sample_set()) {
        const auto spans = spans_of(frame, link);
        EXPECT_FALSE(find(spans, "rest")) << text(spans);
        EXPECT_EQ(spans.back().header, wire::Header::Icrc) << text(spans);
    }
}

// Spans and JSON have the same headers under the same names, except for these lists.
TEST(HeaderSpans, have_the_names_of_the_json) {
    constexpr std::string_view of_spans_only[] = {"payload", "pad", "reserved", "llc"};
    constexpr std::string_view of_the_json_only[] = {
        "frame",    "time",      "t_ns",      "len",   "caplen", "payload_len",
        "not_roce", "truncated", "malformed", "vxlan", "geneve", "gre",
        "nvgre",    "erspan",    "mpls",      "gtp",   "pppoe"};
    auto frames = wire_test::sample_set();
    for (const auto& encapsulation : wire_test::encapsulations())
        frames.push_back({LinkType::Ethernet, encapsulation.wrap(sample(0x0a, Network::Ipv4, 7))});
    frames.push_back({LinkType::Ethernet, from_hex("0180c2000001 020000000002 8808 0001 ffff")});
    frames.push_back(
        {LinkType::Ethernet, from_hex("0180c2000001 020000000002 8808 0101 0008 0000 0000 0000 ffff"
                                      "0000 0000 0000 0000")});
    for (const auto& [link, bytes] : frames) {
        const auto packet = wire::decode(bytes, link);
        std::string scratch;
        std::string text;
        filter::append_json(text, {1, {}, packet, bytes, bytes.size(), scratch});
        const auto json = util::Json::parse(text);
        const auto spans = wire::header_spans(packet, bytes);
        for (const auto& span : spans) {
            const std::string_view name = wire::name(span.header);
            EXPECT_TRUE(json.contains(name) || std::ranges::count(of_spans_only, name) == 1)
                << name;
        }
        for (const auto& [key, value] : json.items())
            EXPECT_TRUE(find(spans, key) || std::ranges::count(of_the_json_only, key) == 1 ||
                        (packet.outer && key == "eth"))
                << key;
    }
}

TEST(HeaderSpans, cover_every_prefix_behind_every_link) {
    for (const auto& bytes : {tcp_frame(ethernet_ipv4, "0101080a 00000001 00000002"),
                              sample(0x0a, Network::Ipv6, 7, 2), sample(0x81, Network::Grh, 0)})
        for (const LinkType link : links)
            for (std::size_t size = 0; size <= bytes.size(); ++size) {
                const wire_test::ExactCopy copy(util::Bytes(bytes).first(size));
                for (const std::size_t length : {size, bytes.size()})
                    EXPECT_TRUE(wire_test::cover(
                        wire::header_spans(wire::decode(copy, link, length), copy), copy))
                        << size << " of " << length;
            }
}

TEST(HeaderSpans, have_titles_that_begin_with_the_name_in_messages) {
    const wire::Packet none;
    wire::for_each_extension_header(none, [](wire::HeaderMask bit, std::string_view name,
                                             const auto&) {
        EXPECT_TRUE(wire::title(wire::extension_header(bit)).starts_with(std::string(name) + ": "))
            << name;
        return true;
    });
}

}  // namespace header_span_test
