// Which request a completion belongs to.
#include "rocetrace/interpose/outstanding.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace outstanding_test {

using interpose::Outstanding;

class Requests : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(queue_.make_room(4)); }
    void TearDown() override { queue_.free_room(); }

    void post(std::uint64_t wr_id, bool is_signaled = true) {
        queue_.stage(wr_id, is_signaled);
        queue_.accept();
    }
    std::int64_t complete(std::uint64_t wr_id, bool succeeded = true) {
        return queue_.complete(wr_id, succeeded);
    }

    Outstanding queue_;
};

TEST_F(Requests, that_are_refused_leave_the_others_alone_however_many_they_are) {
    for (std::uint64_t wr_id = 0; wr_id < 4; ++wr_id)
        post(wr_id);
    for (const unsigned refused : {1U, 4U, 40U}) {
        for (unsigned i = 0; i < refused; ++i)
            EXPECT_EQ(queue_.stage(100 + i, true), 4 + i);
        queue_.take_back();
        EXPECT_EQ(queue_.posted(), 4U);
        EXPECT_EQ(queue_.count(), 4U);
        EXPECT_EQ(complete(100), -1);
    }
    for (std::uint64_t wr_id = 0; wr_id < 4; ++wr_id)
        EXPECT_EQ(complete(wr_id), static_cast<std::int64_t>(wr_id));
    EXPECT_EQ(queue_.count(), 0U);
    post(7);
    EXPECT_EQ(complete(7), 4);
}

TEST_F(Requests, may_be_more_than_the_queue_holds_and_have_repeating_ids) {
    for (std::uint64_t i = 0; i < 96; ++i)
        post(i % 16);
    EXPECT_EQ(queue_.count(), 96U);
    for (std::uint64_t i = 0; i < 96; ++i)
        EXPECT_EQ(complete(i % 16), static_cast<std::int64_t>(i));
}

TEST_F(Requests, before_one_that_has_completed_have_completed_if_they_are_unsignaled) {
    for (std::uint64_t i = 0; i < 10; ++i)
        post(0, i % 5 == 4);
    EXPECT_EQ(complete(0), 4);
    EXPECT_EQ(queue_.count(), 5U);
    EXPECT_EQ(complete(0), 9);
    EXPECT_EQ(queue_.count(), 0U);
    post(1, false);
    post(2, false);
    EXPECT_EQ(complete(1), -1);
    EXPECT_EQ(complete(1, false), 10);
    EXPECT_EQ(complete(2, false), 11);
}

// Two threads poll, and the one that has polled first comes second.
TEST_F(Requests, whose_completions_are_overtaken_are_found_nevertheless) {
    for (std::uint64_t i = 0; i < 20; ++i)
        post(i % 4);
    EXPECT_EQ(complete(2), 2);
    EXPECT_EQ(complete(0), 0);
    EXPECT_EQ(complete(3), 3);
    EXPECT_EQ(queue_.count(), 17U);
    EXPECT_EQ(complete(1), 1);
    EXPECT_EQ(complete(0), 4);
}

TEST_F(Requests, that_never_complete_are_forgotten_and_counted) {
    post(1, false);
    for (std::uint32_t i = 0; i < Outstanding::most + 5; ++i)
        post(2 + i, false);
    EXPECT_EQ(queue_.count(), Outstanding::most);
    EXPECT_EQ(queue_.forgotten(), 6U);
    EXPECT_EQ(queue_.posted(), Outstanding::most + 6);
    EXPECT_EQ(complete(1, false), -1);
    EXPECT_EQ(complete(7, false), 6);
    queue_.clear();
    EXPECT_EQ(queue_.forgotten(), 0U);
}

// A completion that nobody has polled: its queue has overrun.
TEST_F(Requests, whose_completion_is_lost_do_not_stay_for_ever) {
    post(1);
    for (std::uint64_t i = 0; i < 10000; ++i) {
        post(10 + i);
        ASSERT_EQ(complete(10 + i), static_cast<std::int64_t>(1 + i));
    }
    EXPECT_EQ(queue_.count(), 0U);
    EXPECT_EQ(queue_.forgotten(), 1U);
}

TEST_F(Requests, in_a_list_longer_than_all_that_is_kept_are_the_last_ones) {
    post(1);
    for (std::uint32_t i = 0; i < Outstanding::most + 10; ++i)
        queue_.stage(100 + i, true);
    queue_.accept();
    EXPECT_EQ(queue_.count(), Outstanding::most);
    EXPECT_EQ(complete(100 + 9), -1);
    EXPECT_EQ(complete(100 + 10), 11);
    for (std::uint32_t i = 0; i < Outstanding::most + 10; ++i)
        queue_.stage(0, true);
    queue_.take_back();
    EXPECT_EQ(queue_.count(), 0U);  // overwritten by the refused list
    post(5);
    EXPECT_EQ(complete(5), Outstanding::most + 11);
}

// Beside a list of all requests. Completions come in order, or swapped with the next one.
TEST_F(Requests, are_found_as_in_a_list_of_all) {
    std::mt19937 random(1);
    std::vector<bool> is_signaled;
    std::size_t next = 0;
    for (int step = 0; step < 20000; ++step) {
        const std::size_t listed = random() % 12;
        const std::size_t taken = random() % 3 == 0 ? random() % (listed + 1) : listed;
        std::vector<bool> list;
        for (std::size_t i = 0; i < listed; ++i)
            list.push_back(random() % 4 != 0);
        const auto stage = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                queue_.stage((is_signaled.size() + i) % 32, list[i]);
        };
        stage(listed);
        if (taken != listed) {
            queue_.take_back();
            stage(taken);
        }
        queue_.accept();
        is_signaled.insert(is_signaled.end(), list.begin(),
                           list.begin() + static_cast<std::ptrdiff_t>(taken));
        std::vector<std::size_t> polled;
        for (std::size_t i = random() % 12; i > 0 && next < is_signaled.size(); --i, ++next)
            if (is_signaled[next])
                polled.push_back(next);
        if (polled.size() > 1 && random() % 2 == 0)
            std::swap(polled[0], polled[1]);
        for (const std::size_t number : polled)
            ASSERT_EQ(complete(number % 32), static_cast<std::int64_t>(number)) << step;
    }
    ASSERT_EQ(queue_.posted(), is_signaled.size());
}

}  // namespace outstanding_test
