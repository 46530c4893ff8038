#include "trace/predict/answer.hpp"

#include <gtest/gtest.h>

#include "trace/predict/packets.hpp"
#include "trace/predict/score.hpp"

namespace {

using namespace predict;
using namespace predict_test;

TEST(PredictAnswer, is_a_kind_and_a_psn_or_only_a_kind) {
    EXPECT_EQ(std::get<Answer>(parse("nak +4")), (Answer{Kind::Nak, 4}));
    EXPECT_EQ(std::get<Answer>(parse("  ACK 5\r")), (Answer{Kind::Ack, 5}));
    EXPECT_EQ(std::get<Answer>(parse("write PSN +4")), (Answer{Kind::Write, 4}));
    EXPECT_EQ(std::get<Answer>(parse("rnr nak 0")), (Answer{Kind::RnrNak, 0}));
    EXPECT_EQ(std::get<Answer>(parse("response -1")), (Answer{Kind::Response, -1}));
    EXPECT_EQ(std::get<Answer>(parse("send")), (Answer{Kind::Send, std::nullopt}));
}

TEST(PredictAnswer, may_be_a_command) {
    EXPECT_EQ(std::get<Command>(parse("")), Command::Reveal);
    EXPECT_EQ(std::get<Command>(parse(" \t")), Command::Reveal);
    EXPECT_EQ(std::get<Command>(parse("?")), Command::Help);
    EXPECT_EQ(std::get<Command>(parse("q")), Command::Quit);
}

TEST(PredictAnswer, that_is_none_says_why) {
    for (const char* line : {"nack +4", "other", "+4", "quit", "\xff"})
        EXPECT_NE(std::get<Mistake>(parse(line)).text.find("is not a kind of packet"),
                  std::string::npos)
            << line;
    for (const char* line :
         {"ack four", "ack +", "ack ++4", "ack 4x", "ack 99999999999", "ack nak"})
        EXPECT_NE(std::get<Mistake>(parse(line)).text.find("is not a PSN"), std::string::npos)
            << line;
    EXPECT_EQ(std::get<Mistake>(parse("ack 4 5")).text,
              "'5' is not expected: write a kind and a PSN, as in 'nak +4'.");
}

TEST(PredictAnswer, is_graded_by_kind_and_psn) {
    EXPECT_EQ(grade(nak(4), {Kind::Nak, 4}), Grade::Right);
    EXPECT_EQ(grade(nak(4), {Kind::Nak, std::nullopt}), Grade::Right);
    EXPECT_EQ(grade(nak(4), {Kind::Nak, 5}), Grade::Nearly);
    EXPECT_EQ(grade(nak(4), {Kind::Ack, 4}), Grade::Wrong);
    const ReliablePacket answer = packet(atomic_answer, 1);
    EXPECT_EQ(grade(answer, {Kind::Response, 1}), Grade::Right);
    EXPECT_EQ(grade(answer, {Kind::Atomic, 1}), Grade::Right);
    EXPECT_EQ(grade(answer, {Kind::Ack, 1}), Grade::Wrong);
    EXPECT_EQ(grade(response(1), {Kind::Atomic, 1}), Grade::Wrong);
}

TEST(PredictScore, counts_what_was_asked) {
    Score score;
    EXPECT_EQ(score.text(), "0 asked: 0 right, 0 nearly, 0 wrong");
    score.add(Grade::Right);
    score.add(Grade::Wrong);
    EXPECT_EQ(score.text(), "2 asked: 1 right, 0 nearly, 1 wrong");
    score.add_unanswered();
    EXPECT_EQ(score.text(), "3 asked: 1 right, 0 nearly, 1 wrong, 1 shown without a prediction");
}

// Returns the explanation for a learner who answered `answer` when `next` followed `seen`.
std::string why(std::initializer_list<ReliablePacket> seen, const ReliablePacket& next,
                const Answer& answer) {
    ConnectionState ends;
    for (const ReliablePacket& one : seen)
        ends.see(one);
    return reason(next, answer, ends);
}

TEST(PredictReason, tells_a_nak_by_what_the_responder_expects) {
    const auto gap = {write(0), write(2)};
    EXPECT_EQ(why(gap, nak(1), {Kind::Nak, 2}),
              "a NAK's PSN is the one that the responder expects");
    EXPECT_NE(why(gap, nak(1), {Kind::Ack, 2}).find("it sends a NAK"), std::string::npos);
    EXPECT_EQ(why({write(0)}, nak(3), {Kind::Nak, 2}), "") << "that is no NAK to explain";
    EXPECT_NE(why({write(0)}, rnr(0), {Kind::Ack, 0}).find("needs a receive"), std::string::npos);
}

TEST(PredictReason, tells_requests_that_come_again) {
    const auto asked = {write(0), write(2), nak(1)};
    EXPECT_EQ(why(asked, write(1), {Kind::Write, 3}),
              "the requester goes back to the PSN that the NAK asks for");
    EXPECT_NE(
        why({write(0), write(2), nak(1), write(1)}, write(2), {Kind::Write, 3}).find("go-back"),
        std::string::npos);
    ReliablePacket late = write(0);
    late.t_ns = 268'000'000;
    EXPECT_NE(why({write(0), write(1)}, late, {Kind::Write, 2}).find("no response arrived in time"),
              std::string::npos);
    EXPECT_EQ(why({write(0), write(1)}, write(0), {Kind::Write, 2}), "")
        << "too soon for a timeout: who knows";
    ReliablePacket lost = nak(1);
    lost.is_lost = true;
    EXPECT_EQ(why({write(0), write(2), lost}, write(1), {Kind::Write, 3}), "")
        << "the requester has not seen the NAK";
    EXPECT_EQ(why({read(0, 3), response(0), response(2)}, read(1, 2), {Kind::Ack, 1}),
              "the requester sends the next packet: a request, not a response");
    EXPECT_NE(why({read(0, 3), read(3, 1), response(0), response(2)}, read(1, 2), {Kind::Read, 3})
                  .find("a response is missing"),
              std::string::npos);
}

TEST(PredictReason, says_nothing_of_what_the_link_held_back) {
    ConnectionState ends;
    for (const ReliablePacket& one : {write(0), write(2), nak(1)})
        ends.see(one);
    ends.see_held(1);
    EXPECT_EQ(reason(write(1), {Kind::Write, 3}, ends), "");
}

TEST(PredictReason, tells_new_requests_and_their_answers) {
    EXPECT_NE(why({read(0, 3)}, read(3, 3), {Kind::Read, 1}).find("takes as many PSNs"),
              std::string::npos);
    EXPECT_NE(why({write(0)}, write(1), {Kind::Write, 0}).find("until it learns of a loss"),
              std::string::npos);
    EXPECT_NE(why({write(0)}, ack(0), {Kind::Ack, 1}).find("last request that it acknowledges"),
              std::string::npos);
    EXPECT_NE(
        why({write(0)}, ack(0), {Kind::Nak, 1}).find("accepted this request: it sends an ACK"),
        std::string::npos);
    EXPECT_NE(why({read(0, 1)}, response(0), {Kind::Ack, 0}).find("is its data"),
              std::string::npos);
    EXPECT_EQ(why({write(0)}, ack(0), {Kind::Write, 1}),
              "the responder sends the next packet: a response, not a request");
}

TEST(PredictHint, tells_what_each_side_knows) {
    ConnectionState ends;
    EXPECT_EQ(hint(ends, "the client", "192.0.2.1"),
              "192.0.2.1 expects PSN +0 next.\nThe client has sent no request yet.");
    ends.see(write(0));
    EXPECT_EQ(hint(ends, "the client", "the server"),
              "The server expects PSN +1 next.\n"
              "The client has sent up to PSN +0; this PSN is not acknowledged.");
    ends.see_taken(1);
    ends.see(write(2));
    EXPECT_EQ(hint(ends, "the client", "the server"),
              "The server expects PSN +1 next, but the last packet had another PSN.\n"
              "The client has sent up to PSN +2; from PSN +0 on, no PSN is acknowledged.");
    ends.see(nak(1));
    EXPECT_EQ(hint(ends, "the client", "the server"),
              "The server expects PSN +1 next, and has sent a NAK for it.\n"
              "The client has sent up to PSN +2; from PSN +1 on, no PSN is acknowledged.");
    for (const ReliablePacket& one : {write(1), write(2), ack(2)})
        ends.see(one);
    EXPECT_EQ(hint(ends, "the client", "the server"),
              "The server expects PSN +3 next.\n"
              "The client has sent up to PSN +2; all PSNs are acknowledged.");
}

}  // namespace
