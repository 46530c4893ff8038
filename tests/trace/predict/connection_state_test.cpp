#include "trace/predict/connection_state.hpp"

#include <gtest/gtest.h>

#include "trace/predict/packets.hpp"

namespace {

using namespace predict_test;
using predict::ConnectionState;

ConnectionState after(std::initializer_list<predict::ReliablePacket> seen) {
    ConnectionState ends;
    for (const predict::ReliablePacket& one : seen)
        ends.see(one);
    return ends;
}

TEST(PredictEnds, a_responder_takes_what_it_expects_and_nothing_else) {
    EXPECT_EQ(after({write(0), write(1)}).expected(), 2);
    const ConnectionState gap = after({write(0), write(2)});
    EXPECT_EQ(gap.expected(), 1);
    EXPECT_TRUE(gap.has_gap());
    EXPECT_EQ(gap.behind_sent(), 3);
    EXPECT_EQ(after({write(0), write(0)}).expected(), 1) << "a retransmission";
    auto damaged = write(1);
    damaged.is_damaged = true;
    EXPECT_EQ(after({write(0), damaged}).expected(), 1);
    EXPECT_EQ(after({write(0), rnr(0)}).expected(), 0) << "refused for now";
}

TEST(PredictEnds, a_read_takes_the_psns_of_its_response) {
    const ConnectionState ends = after({read(0, 3), write(3)});
    EXPECT_EQ(ends.expected(), 4);
    EXPECT_EQ(ends.oldest_open(), 0);
}

TEST(PredictEnds, an_ack_speaks_for_all_before_it_but_not_for_a_read_s_data) {
    EXPECT_EQ(after({write(0), write(1), write(2), ack(2)}).oldest_open(), 3);
    EXPECT_EQ(after({write(0), read(1, 2), write(3), ack(3)}).oldest_open(), 1);
    EXPECT_EQ(
        after({write(0), read(1, 2), write(3), response(1), response(2), ack(3)}).oldest_open(), 4);
    const ConnectionState missing = after({read(0, 3), response(0), response(2)});
    EXPECT_EQ(missing.oldest_open(), 1);
    EXPECT_TRUE(missing.misses_response());
}

TEST(PredictEnds, a_nak_acknowledges_what_is_before_it_and_asks_for_the_rest) {
    const ConnectionState ends = after({write(0), write(1), write(3), nak(2)});
    EXPECT_EQ(ends.oldest_open(), 2);
    EXPECT_TRUE(ends.was_asked_for(2));
    EXPECT_EQ(after({write(0), write(2), nak(1), write(1)}).asked_for(), std::nullopt);
}

TEST(PredictEnds, an_answer_that_was_lost_tells_the_requester_nothing) {
    auto lost = ack(1);
    lost.is_lost = true;
    EXPECT_EQ(after({write(0), write(1), lost}).oldest_open(), 0);
    auto refused = nak(1);
    refused.is_lost = true;
    const ConnectionState ends = after({write(0), write(2), refused});
    EXPECT_EQ(ends.asked_for(), 1);
    EXPECT_FALSE(ends.was_asked_for(1));
}

}  // namespace
