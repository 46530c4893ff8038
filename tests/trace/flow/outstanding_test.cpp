#include "trace/flow/outstanding.hpp"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace outstanding_test {

using flow::Outstanding;
using flow::OutstandingRequest;
using wire::Psn;

OutstandingRequest request(std::uint32_t psn) {
    return {.time_ns = psn, .psn = Psn(psn), .read_psns = 0};
}

TEST(OutstandingRequest, is_covered_once_its_last_psn_is_acknowledged) {
    const OutstandingRequest message{.time_ns = 0, .psn = Psn(0xffffff), .read_psns = 0};
    EXPECT_FALSE(message.is_covered_by(Psn(0xfffffe)));
    EXPECT_TRUE(message.is_covered_by(Psn(0xffffff)));
    EXPECT_TRUE(message.is_covered_by(Psn(3)));
    const OutstandingRequest read{.time_ns = 0, .psn = Psn(0xfffffe), .read_psns = 4};
    EXPECT_FALSE(read.is_covered_by(Psn(0)));
    EXPECT_TRUE(read.is_covered_by(Psn(1)));
}

TEST(OutstandingRequest, a_read_is_answered_by_its_own_psns_only) {
    const OutstandingRequest read{.time_ns = 0, .psn = Psn(0xfffffe), .read_psns = 4};
    EXPECT_FALSE(read.is_answered_by(Psn(0xfffffd)));
    EXPECT_TRUE(read.is_answered_by(Psn(0xfffffe)));
    EXPECT_TRUE(read.is_answered_by(Psn(1)));
    EXPECT_FALSE(read.is_answered_by(Psn(2)));
    EXPECT_FALSE(request(7).is_answered_by(Psn(7)));
}

TEST(Outstanding, a_request_in_the_place_of_an_answered_one_has_not_begun) {
    Outstanding::Pages pages(2);
    Outstanding waiting;
    ASSERT_TRUE(waiting.push(request(1), true, pages));
    ASSERT_TRUE(waiting.push(request(2), true, pages));
    waiting.front_begun(pages) = true;
    waiting.pop(pages);
    EXPECT_FALSE(waiting.front_begun(pages));
    waiting.front_begun(pages) = true;
    waiting.pop(pages);
    ASSERT_TRUE(waiting.push(request(3), true, pages));
    EXPECT_EQ(waiting.front(pages).psn, Psn(3));
    EXPECT_FALSE(waiting.front_begun(pages));
}

TEST(Outstanding, is_a_queue_through_any_sequence_of_calls) {
    Outstanding::Pages pages(40);
    Outstanding waiting;
    std::deque<std::pair<std::uint32_t, bool>> model;
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
    std::uint32_t next = 0;
    for (int step = 0; step < 100'000; ++step) {
        const bool grows = (step / 500) % 2 == 0;
        if (random() % 3 < (grows ? 2U : 1U)) {
            const bool fits = waiting.push(request(next), true, pages);
            ASSERT_TRUE(fits || pages.in_use() == pages.capacity());
            if (fits)
                model.emplace_back(next, false);
            ++next;
        } else if (!model.empty() && random() % 4 == 0) {
            waiting.front_begun(pages) = model.front().second = true;
        } else if (!model.empty()) {
            waiting.pop(pages);
            model.pop_front();
        }
        ASSERT_EQ(waiting.size(), model.size());
        if (model.empty())
            continue;
        ASSERT_EQ(waiting.front(pages).psn, Psn(model.front().first));
        ASSERT_EQ(waiting.front_begun(pages), model.front().second);
    }
    waiting.release(pages);
    EXPECT_EQ(pages.in_use(), 0U);
    EXPECT_TRUE(waiting.empty());
}

TEST(Outstanding, what_finds_no_page_is_refused_until_there_is_one) {
    Outstanding::Pages pages(1);
    Outstanding waiting;
    for (std::uint32_t i = 0; i < Outstanding::Page::slots; ++i)
        ASSERT_TRUE(waiting.push(request(i), true, pages));
    EXPECT_FALSE(waiting.push(request(9), true, pages));
    waiting.clear(pages);
    EXPECT_TRUE(waiting.push(request(10), true, pages));
    EXPECT_EQ(waiting.front(pages).psn, Psn(10));
}

TEST(Outstanding, what_may_never_be_answered_leaves_pages_to_others) {
    Outstanding::Pages pages(30);
    std::size_t used = 0;
    for (int i = 0; i < 3; ++i) {
        Outstanding unanswered;
        for (std::uint32_t psn = 0; unanswered.push(request(psn), false, pages);)
            ++psn;
        EXPECT_GT(pages.in_use(), used);
        used = pages.in_use();
    }
    EXPECT_LT(used, pages.capacity());
    Outstanding answered;
    for (std::uint32_t psn = 0; answered.push(request(psn), true, pages);)
        ++psn;
    EXPECT_EQ(pages.in_use(), pages.capacity());
}

}  // namespace outstanding_test
