// Whole sentences of reasons, and the cases in which a device had a choice and there is none.
#include <gtest/gtest.h>

#include "trace/predict/answer.hpp"
#include "trace/predict/packets.hpp"
#include "wire/sample_frames.hpp"

namespace reason_test {

using namespace predict;
using namespace predict_test;

std::string why(std::initializer_list<ReliablePacket> seen, const ReliablePacket& next,
                const Answer& answer) {
    ConnectionState ends;
    for (const ReliablePacket& one : seen)
        ends.see(one);
    return reason(next, answer, ends);
}

// A NAK other than "PSN sequence error".
ReliablePacket refusal(std::int32_t offset) {
    ReliablePacket packet = nak(offset);
    packet.aeth.syndrome = nak_access;
    return packet;
}

TEST(PredictReasonText, a_refusal_names_the_request_that_it_refuses) {
    EXPECT_EQ(why({write(0)}, refusal(0), {Kind::Nak, 1}),
              "this NAK's PSN is that of the request that it refuses");
    EXPECT_EQ(why({write(0)}, refusal(0), {Kind::Ack, 0}),
              "the responder refuses that request with a NAK");
}

TEST(PredictReasonText, a_sequence_nak_follows_a_gap_only) {
    EXPECT_EQ(why({write(0), write(2)}, nak(1), {Kind::Nak, 0}),
              "a NAK's PSN is the one that the responder expects");
    EXPECT_EQ(why({write(0), write(2)}, nak(1), {Kind::Ack, 0}),
              "the last packet did not have the PSN that the responder expects: it sends a NAK");
    EXPECT_EQ(why({write(0)}, nak(1), {Kind::Ack, 0}), "");
    EXPECT_EQ(why({write(0), write(2)}, nak(2), {Kind::Nak, 0}), "");
}

TEST(PredictReasonText, an_ack_is_told_by_the_last_request) {
    EXPECT_EQ(why({write(0), write(1)}, ack(1), {Kind::Ack, 0}),
              "an ACK's PSN is that of the last request that it acknowledges, with all before it");
    EXPECT_EQ(why({write(0), write(1)}, ack(1), {Kind::Nak, 1}),
              "the responder accepted this request: it sends an ACK");
    EXPECT_EQ(why({write(0), write(1)}, ack(1), {Kind::Response, 1}),
              "READs and atomics get responses: SENDs and WRITEs get ACKs");
    EXPECT_EQ(why({write(0), write(1)}, ack(2), {Kind::Nak, 1}), "")
        << "the responder has not accepted a request with this PSN";
    EXPECT_EQ(why({write(0), write(1)}, ack(1), {Kind::RnrNak, 1}), "");
}

TEST(PredictReasonText, a_response_is_told_by_its_request) {
    const ReliablePacket atomic = packet(atomic_answer, 1);
    for (const Kind kind : {Kind::Ack, Kind::Read}) {
        EXPECT_EQ(why({write(0)}, response(1), {kind, 1}),
                  "the response to a READ is its data: there is no plain ACK");
        EXPECT_EQ(why({write(0)}, atomic, {kind, 1}),
                  "the response to an atomic has its result: there is no plain ACK");
    }
    EXPECT_EQ(why({write(0)}, response(1), {Kind::Response, 2}),
              "a READ's responses have consecutive PSNs, from the PSN of the request on");
    EXPECT_EQ(why({write(0)}, atomic, {Kind::Response, 2}),
              "an atomic's response has the PSN of its request");
    EXPECT_EQ(why({write(0)}, response(1), {Kind::Nak, 2}), "");
}

TEST(PredictReasonText, requests_have_consecutive_psns) {
    EXPECT_EQ(why({write(0)}, write(1), {Kind::Write, 2}), "requests have consecutive PSNs");
    EXPECT_EQ(why({write(0)}, write(1), {Kind::Write, 0}),
              "until it learns of a loss, the requester continues with the next new PSN");
    EXPECT_EQ(why({write(0)}, write(1), {Kind::Send, 2}), "");
    EXPECT_EQ(why({write(0)}, write(1), {Kind::Write, std::nullopt}), "");
    EXPECT_EQ(why({write(0)}, write(2), {Kind::Write, 1}), "");
}

TEST(PredictReasonText, of_the_next_new_psn_after_a_long_read) {
    ReliablePacket read = packet(0x0c, 0);
    read.psns = 3;
    EXPECT_EQ(why({read}, write(3), {Kind::Write, 1}),
              "a READ request takes as many PSNs as its response has packets");
    read.psns = 1;
    EXPECT_EQ(why({read}, write(1), {Kind::Write, 0}),
              "until it learns of a loss, the requester continues with the next new PSN");
}

TEST(PredictKind, an_acknowledge_is_told_by_its_syndrome) {
    const auto kind = [](std::uint8_t syndrome) {
        auto sent = wire_test::sample_packet(*wire::find_opcode(0x11), wire_test::Network::Ipv4, 0);
        sent.aeth->syndrome = syndrome;
        const auto frame = wire::encode(sent);
        const auto made = packet_of(1, 1, wire::decode(frame, wire::LinkType::Ethernet),
                                    "192.0.2.2", "192.0.2.1");
        EXPECT_TRUE(made);
        return made ? made->kind() : Kind::Other;
    };
    EXPECT_EQ(kind(0x1f), Kind::Ack);
    EXPECT_EQ(kind(0x00), Kind::Ack);
    EXPECT_EQ(kind(0x20), Kind::RnrNak);
    EXPECT_EQ(kind(0x40), Kind::Other);
    EXPECT_EQ(kind(0x60), Kind::Nak);
}

TEST(PredictKind, each_operation_has_a_kind) {
    struct Case {
        std::uint8_t opcode;
        Kind kind;
    };
    for (const Case one : {Case{0x04, Kind::Send},
                           {0x0a, Kind::Write},
                           {0x0c, Kind::Read},
                           {0x13, Kind::Atomic},
                           {0x14, Kind::Atomic},
                           {0x10, Kind::Response},
                           {0x12, Kind::Response},
                           {0x1c, Kind::Other}}) {
        const auto frame = wire::encode(
            wire_test::sample_packet(*wire::find_opcode(one.opcode), wire_test::Network::Ipv4, 0));
        const auto made = packet_of(1, 1, wire::decode(frame, wire::LinkType::Ethernet),
                                    "192.0.2.2", "192.0.2.1");
        ASSERT_TRUE(made) << unsigned{one.opcode};
        EXPECT_EQ(made->kind(), one.kind) << unsigned{one.opcode};
    }
}

}  // namespace reason_test
