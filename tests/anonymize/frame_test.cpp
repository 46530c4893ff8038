// What anonymizing replaces in a RoCE packet, and what stays as it was.
#include "anonymize/frame.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "anonymize/frame_result.hpp"
#include "wire/cm_data.hpp"
#include "wire/encapsulations.hpp"
#include "wire/reseal.hpp"
#include "wire/sample_set.hpp"

namespace frame_test {

using namespace anonymize_test;
using anonymize::Anonymizer;
using anonymize::Data;
using wire::Header;
using wire::LinkType;
using wire_test::from_hex;
using wire_test::joined;

// Every opcode over every network, every message after every link header, whole and cut.
TEST(AnonymousFrame, has_the_same_headers_at_the_same_places) {
    for (const auto& [link, frame] : wire_test::sample_set())
        for (std::size_t size = 0; size <= frame.size(); ++size) {
            Anonymizer anonymizer(Data::Replaced);
            ASSERT_EQ(problem_with(anonymizer, util::Bytes(frame).first(size), link, frame.size()),
                      "")
                << size << " of " << frame.size() << " bytes";
        }
}

TEST(AnonymousFrame, has_none_of_the_addresses_keys_and_data) {
    for (const wire::OpcodeInfo& opcode : wire_test::all_opcodes())
        for (const Network network : wire_test::all_networks) {
            auto packet = wire_test::sample_packet(opcode, network, 60);
            packet.ethernet->src = {{0x24, 0x8a, 7, 1, 2, 3}};
            packet.ethernet->dst = {{0x24, 0x8a, 7, 1, 2, 4}};
            const wire::Ipv6Address src{{0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 1}};
            const wire::Ipv6Address dst{{0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 2}};
            if (packet.ipv4)
                packet.ipv4->src = {{10, 20, 30, 40}}, packet.ipv4->dst = {{10, 20, 30, 50}};
            if (packet.ipv6)
                packet.ipv6->src = src, packet.ipv6->dst = dst;
            if (packet.grh)
                packet.grh->sgid = src, packet.grh->dgid = dst;
            const Octets frame = wire::encode(packet);
            const Octets result = result_of(frame);
            EXPECT_EQ(decoded(result).icrc->status, wire::IcrcStatus::Good);
            expect_gone(result, packet.ethernet->src.bytes);
            expect_gone(result, packet.ethernet->dst.bytes);
            expect_gone(result, std::array<std::uint8_t, 4>{10, 20, 30, 40});
            expect_gone(result, std::array<std::uint8_t, 4>{10, 20, 30, 50});
            expect_gone(result, std::array<std::uint8_t, 4>{0xfd, 1, 2, 3});
            const auto spans = wire::header_spans(decoded(frame), frame);
            for (const wire::HeaderSpan& span : spans) {
                using enum Header;
                constexpr std::size_t least = 4;
                const util::Bytes bytes = util::Bytes(frame).subspan(span.offset, span.length);
                const bool is_hidden = span.header == Payload || span.header == ImmDt ||
                                       span.header == AtomicAckEth || span.header == Ieth;
                EXPECT_FALSE(is_hidden && bytes.size() >= least &&
                             contains(result, bytes.first(least)))
                    << wire::title(span.header);
            }
            // va and rkey of a RETH, va, rkey and operands of an AtomicETH.
            expect_gone(result, std::array<std::uint8_t, 4>{0x11, 0x22, 0x33, 0x44});
            expect_gone(result, std::array<std::uint8_t, 4>{0xde, 0xad, 0xbe, 0xef});
            expect_gone(result, std::array<std::uint8_t, 4>{0xca, 0xfe, 0xba, 0xbe});
            expect_gone(result, std::array<std::uint8_t, 4>{0x04, 0x05, 0x06, 0x07});
            expect_gone(result, std::array<std::uint8_t, 4>{0x11, 0x12, 0x13, 0x14});
        }
}

TEST(AnonymousFrame, to_a_group_has_the_group_s_ethernet_address) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x64), Network::Ipv4, 8);
    packet.ipv4->dst = {{239, 129, 2, 3}};
    packet.ethernet->dst = {{0x01, 0, 0x5e, 1, 2, 3}};
    const auto after = decoded(result_of(wire::encode(packet)));
    EXPECT_EQ(text(after.ipv4->dst), "233.252.0.2");
    EXPECT_EQ(text(after.ethernet->dst), "01:00:5e:7c:00:02");

    for (const Network network : {Network::Ipv6, Network::Grh}) {
        auto six = wire_test::sample_packet(*wire::find_opcode(0x64), network, 8);
        auto& group = six.ipv6 ? six.ipv6->dst : six.grh->dgid;
        group = {{0xff, 0x15, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0x87, 0x65, 0x43, 0x21}};
        six.ethernet->dst = {{0x33, 0x33, 0x87, 0x65, 0x43, 0x21}};
        const auto result = decoded(result_of(wire::encode(six)));
        const auto& now = result.ipv6 ? result.ipv6->dst : result.grh->dgid;
        EXPECT_EQ(text(now), "ff15:20:2001:db8::2");
        EXPECT_EQ(text(result.ethernet->dst), "33:33:00:00:00:02");
    }
}

TEST(AnonymousFrame, keeps_payloads_if_it_is_told_so) {
    for (const std::uint8_t opcode : std::to_array<std::uint8_t>({0x04, 0x05, 0x13, 0x12})) {
        const Octets frame = frame_of(opcode);
        const auto before = decoded(frame);
        const Octets result = result_of(frame, Data::Kept);
        const auto after = decoded(result);
        EXPECT_TRUE(std::ranges::equal(before.payload, after.payload));
        EXPECT_EQ(before.immdt, after.immdt);
        EXPECT_EQ(before.atomic_ack_eth, after.atomic_ack_eth);
        if (before.atomic_eth) {
            EXPECT_EQ(before.atomic_eth->swapdt, after.atomic_eth->swapdt);
            EXPECT_NE(before.atomic_eth->rkey, after.atomic_eth->rkey);
        }
    }
}

TEST(AnonymousFrame, of_a_retransmission_with_other_data_differs) {
    Anonymizer anonymizer(Data::Replaced);
    const auto packet_with = [](util::Bytes payload) {
        auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 0);
        packet.payload = payload;
        return wire::encode(packet);
    };
    Octets data(100, std::byte{1});
    const Octets first = result_of(anonymizer, packet_with(data));
    EXPECT_EQ(result_of(anonymizer, packet_with(data)), first);
    data.back() = std::byte{2};
    EXPECT_NE(result_of(anonymizer, packet_with(data)), first);
}

TEST(AnonymousFrame, has_zeros_after_the_packet_s_end) {
    const Octets frame = joined(frame_of(0x11), from_hex("0badcafe 0badcafe"));
    const Octets result = result_of(frame);
    EXPECT_EQ(Octets(result.end() - 8, result.end()), Octets(8));
}

TEST(AnonymousFrame, has_zeros_in_options) {
    auto frame = frame_of(0x04);
    frame.insert(frame.begin() + 34, 4, std::byte{0x77});
    frame[14] = std::byte{0x46};
    wire_test::put16(frame, 16, frame.size() - 14);
    const Octets result = result_of(frame);
    EXPECT_EQ(Octets(result.begin() + 34, result.begin() + 38), Octets(4));
    // What the ICRC covers is not specified: its value would be a checksum of the original.
    EXPECT_EQ(Octets(result.end() - 4, result.end()), Octets(4));
    const auto six =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv6, 64));
    Octets extended = six;
    const Octets extension = from_hex("11 00 77777777 7777");
    extended.insert(extended.begin() + 54, extension.begin(), extension.end());
    extended[20] = std::byte{60};
    wire_test::put16(extended, 18, extended.size() - 54);
    const Octets six_result = result_of(extended);
    EXPECT_EQ(Octets(six_result.begin() + 54, six_result.begin() + 62),
              from_hex("11 00 00000000 0000"));
    EXPECT_EQ(decoded(six_result).bth, decoded(six).bth);
}

TEST(AnonymousFrame, of_the_connection_manager_has_other_addresses_and_no_private_data) {
    wire_test::CmData request;
    request.put(8, "0000000001064853").put(16, "268a07fffe010203").put(28, "11223344");
    request.put(56, "00000000000000000000ffff0a141e28 00000000000000000000ffff0a141e32");
    request.put(100, "fd0102030405060708090a0b0c0d0e01 00000000000000000000000000000000");
    request.put(140,
                "00 40 c455 0000000000000000000000000a141e28 0000000000000000000000000a141e32");
    const auto frame = wire::encode(wire_test::cm_packet(
        wire_test::cm_mad(wire::CmAttribute::ConnectRequest, request.bytes()), Network::Ipv4));
    Anonymizer anonymizer(Data::Replaced);
    const Octets result = result_of(anonymizer, frame);
    const auto packet = decoded(result);
    const auto& req = *packet.cm->as<wire::CmReq>();
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_EQ(packet.deth->q_key, decoded(frame).deth->q_key);
    EXPECT_EQ(req.ip_service->port, 0x4853);
    EXPECT_EQ(req.ip_cm->src_port, 0xc455);
    // The IP header's addresses are the first two.
    EXPECT_EQ(text(req.ip_cm->src_ipv4()), "192.0.2.3");
    EXPECT_EQ(text(req.ip_cm->dst_ipv4()), "192.0.2.4");
    const auto gid = [&](std::size_t at) {
        const util::Bytes data(*packet.cm->data);
        return text(wire::Gid::at<0>(data.subspan(at).first<16>()));
    };
    EXPECT_EQ(gid(56), "::ffff:192.0.2.3");
    EXPECT_EQ(gid(72), "::ffff:192.0.2.4");
    EXPECT_EQ(gid(100), "2001:db8::1");
    EXPECT_EQ(gid(116), "::");
    EXPECT_TRUE(
        std::ranges::all_of(req.private_data, [](std::byte one) { return one == std::byte{}; }));
    EXPECT_EQ(req.private_data.size(), 92U - wire::IpCm::size);
    expect_gone(result, std::array<std::uint8_t, 4>{0x11, 0x22, 0x33, 0x44});
    expect_gone(result, std::array<std::uint8_t, 3>{0x07, 0xff, 0xfe});
    expect_gone(result, std::array<std::uint8_t, 3>{10, 20, 30});
    expect_gone(result, std::array<std::uint8_t, 4>{0xfd, 1, 2, 3});
    const auto kept = decoded(result_of(frame, Data::Kept));
    EXPECT_EQ(kept.cm->as<wire::CmReq>()->private_data.back(), std::byte{231});
}

// They are those of the IP header: each is the other's pseudonym.
TEST(AnonymousFrame, of_a_request_over_ipv6_has_other_addresses_in_its_private_data) {
    wire_test::CmData request;
    request.put(8, "0000000001064853");
    request.put(140,
                "00 60 c455 20010db8000000000000000000000002 20010db8000000000000000000000001");
    const auto packet = decoded(result_of(wire::encode(wire_test::cm_packet(
        wire_test::cm_mad(wire::CmAttribute::ConnectRequest, request.bytes()), Network::Ipv6))));
    const auto& ip = *packet.cm->as<wire::CmReq>()->ip_cm;
    EXPECT_EQ(ip.ip_version, 6);
    EXPECT_EQ(text(ip.src), "2001:db8::1");
    EXPECT_EQ(text(ip.dst), "2001:db8::2");
    EXPECT_EQ(packet.ipv6->src, ip.src);
}

// Byte n of each message is n. What stays is listed as ranges.
TEST(AnonymousFrame, of_other_messages_has_no_information_and_no_private_data) {
    const auto zeros_from = [](wire::CmAttribute attribute) {
        const auto frame = wire::encode(wire_test::cm_packet(
            wire_test::cm_mad(attribute, wire_test::CmData().bytes()), Network::Ipv4));
        std::size_t end = 0;
        // One pseudonym in 256 ends with a zero.
        for (int other = 0; other < 8; ++other) {
            const Octets result = result_of(frame);
            const auto packet = decoded(result);
            const util::Bytes data(*packet.cm->data);
            for (std::size_t i = end; i < data.size(); ++i)
                end = data[i] != std::byte{} ? i + 1 : end;
        }
        return end;
    };
    using enum wire::CmAttribute;
    EXPECT_EQ(zeros_from(ConnectReject), 12U);
    EXPECT_EQ(zeros_from(ConnectReply), 36U);
    EXPECT_EQ(zeros_from(ReadyToUse), 8U);
    EXPECT_EQ(zeros_from(DisconnectRequest), 12U);
    EXPECT_EQ(zeros_from(MsgRcptAck), 10U);
    EXPECT_EQ(zeros_from(ServiceIdResReq), 16U);
    EXPECT_EQ(zeros_from(ServiceIdResReqResp), 24U);
    EXPECT_EQ(zeros_from(LoadAlternatePath), 64U);
    EXPECT_EQ(zeros_from(AlternatePathResponse), 12U);
    EXPECT_EQ(zeros_from(ClassPortInfo), 0U);
}

TEST(AnonymousFrame, stays_wrong_where_it_was) {
    auto frame = frame_of(0x04);
    frame.back() ^= std::byte{1};  // the ICRC
    frame[25] ^= std::byte{1};     // the IP checksum
    frame[40] ^= std::byte{0x10};  // the UDP checksum
    const Octets result = result_of(frame);
    const auto packet = decoded(result);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Bad);
    EXPECT_NE(packet.icrc->value, 0U);
    EXPECT_NE(packet.ipv4->checksum,
              wire::right_ip_checksum(packet.trail.find(Header::Ipv4).of(result)));
    EXPECT_NE(packet.udp->checksum, wire::right_udp_checksum(result, packet.trail));
    EXPECT_NE(packet.ipv4->checksum, 0);
}

TEST(AnonymousFrame, keeps_checksums_of_zero) {
    auto frame = frame_of(0x04);
    for (const std::size_t at : {24U, 40U})
        wire_test::put16(frame, at, 0);
    std::fill(frame.end() - 4, frame.end(), std::byte{0});
    const auto packet = decoded(result_of(frame));
    EXPECT_EQ(packet.ipv4->checksum, 0);
    EXPECT_EQ(packet.udp->checksum, 0);
    EXPECT_EQ(packet.icrc->value, 0U);
}

// The sum of a cut datagram cannot be computed, and the old one depends on the addresses.
TEST(AnonymousFrame, that_is_cut_has_no_udp_checksum) {
    const auto frame = frame_of(0x04);
    Anonymizer anonymizer(Data::Replaced);
    const auto cut =
        anonymized(anonymizer, util::Bytes(frame).first(80), LinkType::Ethernet, frame.size());
    ASSERT_TRUE(cut);
    EXPECT_EQ(decoded(cut->bytes).udp->checksum, 0);
}

}  // namespace frame_test
