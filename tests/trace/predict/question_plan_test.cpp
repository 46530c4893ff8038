#include "trace/predict/question_plan.hpp"

#include <gtest/gtest.h>

#include "trace/predict/packets.hpp"

namespace {

using namespace predict_test;
using predict::is_asked;
using predict::QuestionPlan;
using Packets = std::vector<predict::ReliablePacket>;

std::set<std::size_t> asked(const Packets& packets, const QuestionPlan& course = {}) {
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < packets.size(); ++i)
        if (is_asked(packets, i, course))
            found.insert(i);
    return found;
}

TEST(PredictCourse, asks_where_the_sender_changes_and_where_a_psn_goes_back) {
    const Packets packets{write(0), write(1), write(2), ack(2),   write(3),
                          write(4), write(4), write(3), write(4), nak(5)};
    EXPECT_EQ(asked(packets), (std::set<std::size_t>{0, 3, 4, 6, 7, 9}));
}

TEST(PredictCourse, asks_where_the_kind_changes) {
    EXPECT_EQ(asked({ack(2), nak(4), nak(5)}), (std::set<std::size_t>{0, 1}));
}

TEST(PredictCourse, asks_behind_what_the_link_did) {
    const Packets packets{write(0), write(2), write(3)};
    EXPECT_EQ(asked(packets, {.begin = 1, .events = {1, 3}}), std::set<std::size_t>{1});
}

TEST(PredictCourse, begins_where_it_is_told_and_asks_all_where_it_is_told) {
    const Packets packets{write(0), write(1), ack(1), write(2), write(3)};
    EXPECT_EQ(asked(packets, {.begin = 3, .events = {}}), std::set<std::size_t>{3});
    EXPECT_EQ(asked(packets, {.begin = 2, .asks_all = true, .events = {}}),
              (std::set<std::size_t>{2, 3, 4}));
}

TEST(PredictCourse, does_not_ask_for_what_has_no_word) {
    auto other = ack(1);
    other.aeth.syndrome = reserved;
    EXPECT_EQ(asked({write(0), other}, {.asks_all = true, .events = {}}), std::set<std::size_t>{0});
}

}  // namespace
