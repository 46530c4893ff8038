// Requests that are posted in batches of the extended interface, and by several threads.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "rocetrace/interpose/pretended_posts.hpp"

namespace batches_and_threads_test {

using interpose_test::Post;
using interpose_test::Psns;
using support::PretendDevice;

TEST_F(Post, of_the_extended_interface_is_logged_when_the_batch_is_complete) {
    ibv_qp_ex* qp = PretendDevice::extended(device_.qp(IBV_QPT_RC, 100, true));
    ibv_wr_start(qp);
    qp->wr_id = 1;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, 0x11, 0x2000);
    ibv_wr_set_sge(qp, 0, 0, 1025);
    qp->wr_id = 2;
    ibv_wr_local_inv(qp, 0x33);
    qp->wr_id = 3;
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, nullptr, 10);
    EXPECT_TRUE(trace_.events("post_send").empty());
    EXPECT_EQ(ibv_wr_complete(qp), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].number("rkey"), 0x11U);
    EXPECT_EQ(events[0].number("len"), 1025U);
    EXPECT_EQ(psns(events[0]), Psns(100, 101));
    EXPECT_EQ(events[1].number("invalidates"), 0x33U);
    EXPECT_EQ(psns(events[2]), Psns(102, 102));
}

TEST_F(Post, of_an_aborted_or_refused_batch_is_not_logged) {
    ibv_qp_ex* qp = PretendDevice::extended(device_.qp(IBV_QPT_RC, 100, true));
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    ibv_wr_abort(qp);
    device_.complete_result = EINVAL;
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    EXPECT_EQ(ibv_wr_complete(qp), EINVAL);
    device_.complete_result = 0;
    EXPECT_TRUE(trace_.events("post_send").empty());
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    EXPECT_EQ(ibv_wr_complete(qp), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(psns(events[0]), Psns(100, 100));
}

TEST_F(Post, a_batch_may_poll_before_it_is_complete) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 100, true);
    ibv_qp_ex* extended = PretendDevice::extended(qp);
    ibv_wr_start(extended);
    ibv_wr_send(extended);
    completes(qp, 0, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_wr_complete(extended), 0);
}

TEST_F(Post, a_queue_pair_may_be_destroyed_before_its_batch_is_complete) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 100, true);
    ibv_qp_ex* extended = PretendDevice::extended(qp);
    const ibv_qp_ex real = interpose::queue_pairs.find(qp)->real;
    for (int i = 0; i < 2; ++i) {
        ibv_wr_start(extended);
        ibv_wr_send(extended);
        interpose::bury(interpose::detach(qp));
        extended->wr_start = real.wr_start;
        extended->wr_send = real.wr_send;
        interpose::adopt(qp, {false, nullptr, {64, 64, 1, 1, 0}}, &real);
    }
    const auto destroyed = trace_.events("destroyed");
    ASSERT_EQ(destroyed.size(), 2U);
    EXPECT_EQ(destroyed[1].number("sends_posted"), 0U);
}

// The program's other thread polls and changes the state, and only then is the batch complete.
TEST_F(Post, other_threads_do_not_wait_for_the_end_of_a_batch) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 100, true);
    ibv_qp_ex* extended = PretendDevice::extended(qp);
    post(qp, IBV_WR_SEND, 1, 5);
    ibv_wr_start(extended);
    extended->wr_id = 6;
    ibv_wr_send(extended);
    std::thread([&] {
        completes(qp, 5);
        const interpose::Guard guard(interpose::queue_pairs.find(qp)->lock);
    }).join();
    EXPECT_EQ(ibv_wr_complete(extended), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].number("request"), 1U);
}

TEST_F(Post, threads_that_share_a_queue_pair_log_in_the_order_of_psns) {
    constexpr int threads = 4;
    constexpr int each = 2000;
    ibv_qp* qp = device_.qp();
    std::vector<std::thread> posters;
    posters.reserve(threads);
    for (int i = 0; i < threads; ++i)
        posters.emplace_back([&] {
            for (int k = 0; k < each; ++k)
                post(qp, IBV_WR_SEND, 1);
        });
    for (std::thread& poster : posters)
        poster.join();
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), std::size_t{threads} * each);
    std::vector<bool> seen(events.size());
    for (const auto& event : events) {
        const auto psn = event.number("psn_first").value();
        ASSERT_EQ(event.number("request"), psn);
        ASSERT_FALSE(seen.at(psn));
        seen.at(psn) = true;
    }
    for (std::size_t i = 1; i < events.size(); ++i)
        ASSERT_LE(events[i - 1].t_ns, events[i].t_ns);
}

TEST_F(Post, threads_may_poll_and_make_queue_pairs_while_others_post_and_the_log_is_read) {
    constexpr std::size_t each = 2000;
    trace_.dropped();
    PretendDevice polled;
    PretendDevice changing;
    ibv_qp* posting = device_.qp();
    ibv_qp* completing = polled.qp();
    ibv_qp* remade = changing.qp();
    std::atomic<int> running{3};
    const auto repeat = [&running](auto once) {
        return std::thread([&running, once] {
            for (std::size_t i = 0; i < each; ++i)
                once(i);
            --running;
        });
    };
    std::array threads{
        repeat([&](std::size_t) { post(posting, IBV_WR_SEND, 1); }),
        repeat([&](std::size_t i) {
            post(completing, IBV_WR_SEND, 1, i);
            ibv_wc wc{};
            wc.wr_id = i;
            wc.qp_num = completing->qp_num;
            polled.completions.push_back(wc);
            EXPECT_EQ(ibv_poll_cq(polled.cq(), 1, &wc), 1);
        }),
        repeat([&](std::size_t) {
            interpose::bury(interpose::detach(remade));
            interpose::adopt(remade, {false, nullptr, {64, 64, 1, 1, 0}}, nullptr);
        }),
    };
    std::map<std::string, std::size_t> logged;
    while (running > 0)
        for (const auto& event : trace_.events())
            ++logged[event.name];
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& event : trace_.events())
        ++logged[event.name];
    EXPECT_EQ(logged["post_send"], 2 * each);
    EXPECT_EQ(logged["wc"], each);
    EXPECT_EQ(logged["destroyed"], each);
    EXPECT_EQ(trace_.dropped(), 0U);
}

// A thread that the child does not have may hold any of the locks.
TEST_F(Post, the_child_of_a_fork_can_make_and_destroy_objects_whatever_others_did_meanwhile) {
    struct Objects {
        PretendDevice device;
        ibv_qp* qp = device.qp();
        ibv_cq_ex queue{};

        Objects() { queue.context = device.context(); }
        void make_anew() {
            interpose::attach_again(interpose::detach(device.context()));
            interpose::bury(interpose::detach(qp));
            interpose::adopt(qp, {false, nullptr, {8, 8, 1, 1, 0}}, nullptr);
            interpose::adopt_extended(&queue);
            interpose::forget(ibv_cq_ex_to_cq(&queue));
            interpose::retire_queue_pair(interpose::make_queue_pair(8, 8, true));
        }
    };
    std::array<Objects, 3> objects;
    std::atomic<bool> done{false};
    std::array<std::thread, 2> others;
    for (std::size_t i = 0; i < others.size(); ++i)
        others[i] = std::thread([&done, &own = objects[i]] {
            while (!done)
                own.make_anew();
        });
    int hung = 0;
    for (int i = 0; i < 300; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            interpose::reset_locks();
            objects.back().make_anew();
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        hung += static_cast<int>(status != 0);
        if (hung != 0)
            break;
    }
    done = true;
    for (std::thread& other : others)
        other.join();
    EXPECT_EQ(hung, 0);
}

}  // namespace batches_and_threads_test
