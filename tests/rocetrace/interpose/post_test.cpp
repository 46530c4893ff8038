// The posts and completions that the interposing library logs, and the PSNs that it predicts.
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/pretend_device.hpp"

namespace post_test {

using support::PretendDevice;
using support::PretendTrace;

class Post : public testing::Test {
  protected:
    void SetUp() override { trace_.events(); }

    static ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& sge, std::uint64_t wr_id = 0,
                               unsigned flags = IBV_SEND_SIGNALED) {
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.send_flags = flags;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        return wr;
    }
    static int post(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t length, std::uint64_t wr_id = 0,
                    unsigned flags = IBV_SEND_SIGNALED) {
        ibv_sge sge{0, length, 0};
        ibv_send_wr wr = request(opcode, sge, wr_id, flags);
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp, &wr, &bad);
    }
    void completes(const ibv_qp* qp, std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS,
                   ibv_wc_opcode opcode = IBV_WC_SEND) {
        ibv_wc wc{};
        wc.wr_id = wr_id;
        wc.qp_num = qp->qp_num;
        wc.status = status;
        wc.opcode = opcode;
        device_.completions.push_back(wc);
        ibv_wc polled{};
        ASSERT_EQ(ibv_poll_cq(device_.cq(), 1, &polled), 1);
        ASSERT_EQ(polled.wr_id, wr_id);
    }
    static std::pair<std::uint64_t, std::uint64_t> psns(const runlog::Event& event) {
        return {event.number("psn_first").value_or(UINT64_MAX),
                event.number("psn_last").value_or(UINT64_MAX)};
    }

    PretendTrace& trace_ = PretendTrace::of_this_process();
    PretendDevice device_;
};

using Psns = std::pair<std::uint64_t, std::uint64_t>;
constexpr Psns none{UINT64_MAX, UINT64_MAX};

TEST_F(Post, predicts_the_psns_of_each_operation) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 0xfffffe);
    EXPECT_EQ(post(qp, IBV_WR_RDMA_WRITE, 3000), 0);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 0), 0);
    EXPECT_EQ(post(qp, IBV_WR_RDMA_READ, 2048), 0);
    EXPECT_EQ(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 8), 0);
    EXPECT_EQ(post(qp, IBV_WR_LOCAL_INV, 0), 0);
    EXPECT_EQ(post(qp, IBV_WR_BIND_MW, 0), 0);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 7U);
    EXPECT_EQ(psns(events[0]), Psns(0xfffffe, 0));
    EXPECT_EQ(psns(events[1]), Psns(1, 1));
    EXPECT_EQ(psns(events[2]), Psns(2, 3));
    EXPECT_EQ(psns(events[3]), Psns(4, 4));
    EXPECT_EQ(psns(events[4]), none);
    EXPECT_EQ(psns(events[5]), none);
    EXPECT_EQ(psns(events[6]), Psns(5, 5));
    EXPECT_EQ(device_.posted, 7U);
}

TEST_F(Post, of_a_datagram_takes_one_psn) {
    ibv_qp* qp = device_.qp(IBV_QPT_UD, 7);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1000), 0);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1000), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(psns(events[1]), Psns(8, 8));
    EXPECT_TRUE(events[1].number("dest_qpn"));
}

// The address handle identifies the destination host: two hosts may use the same QPN.
TEST_F(Post, of_a_datagram_names_its_address_handle) {
    ibv_ah first{};
    ibv_ah second{};
    const auto address = [](const ibv_ah& ah) { return reinterpret_cast<std::uintptr_t>(&ah); };
    ibv_sge sge{0, 10, 0};
    ibv_send_wr wr = request(IBV_WR_SEND, sge);
    wr.wr.ud = {&first, 5, 6};
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(device_.qp(IBV_QPT_UD, 7), &wr, &bad), 0);
    ibv_qp_ex* extended = PretendDevice::extended(device_.qp(IBV_QPT_UD, 7, true));
    ibv_wr_start(extended);
    ibv_wr_send(extended);
    ibv_wr_set_ud_addr(extended, &second, 5, 6);
    ibv_wr_set_sge(extended, 0, 0, 10);
    EXPECT_EQ(ibv_wr_complete(extended), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].number("ah"), address(first));
    EXPECT_EQ(events[1].number("ah"), address(second));
    EXPECT_EQ(events[1].number("dest_qpn"), 5U);
    EXPECT_EQ(psns(events[1]), Psns(7, 7));
}

TEST_F(Post, that_fails_logs_what_was_taken_and_keeps_result_and_errno) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 10);
    ibv_sge sge{0, 2000, 0};
    ibv_send_wr third = request(IBV_WR_SEND, sge, 3);
    ibv_send_wr second = request(IBV_WR_SEND, sge, 2);
    ibv_send_wr first = request(IBV_WR_SEND, sge, 1);
    first.next = &second;
    second.next = &third;
    ibv_send_wr* bad = nullptr;
    device_.refuse_after = 1;
    EXPECT_EQ(ibv_post_send(qp, &first, &bad), ENOMEM);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(bad, &second);
    device_.refuse_after = -1;
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1, 4), 0);
    const auto events = trace_.events();
    ASSERT_EQ(events.size(), 4U);  // the first describes the queue pair
    EXPECT_EQ(events[1].number("wr_id"), 1U);
    EXPECT_EQ(events[2].name, "failed");
    EXPECT_EQ(events[2].text("error"), "ENOMEM");
    EXPECT_EQ(events[2].number("wr_id"), 2U);
    EXPECT_EQ(psns(events[3]), Psns(12, 12));
}

TEST_F(Post, starts_anew_after_reset_and_has_no_psn_in_err) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 10);
    interpose::TracedQueuePair& pair = *interpose::queue_pairs.find(qp);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    pair.modified(attr, IBV_QP_STATE);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1), 0);
    attr.qp_state = IBV_QPS_RESET;
    pair.modified(attr, IBV_QP_STATE);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1), 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 500;
    pair.modified(attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    EXPECT_EQ(post(qp, IBV_WR_SEND, 1), 0);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(psns(events[0]), none);
    EXPECT_EQ(psns(events[1]), none);
    EXPECT_EQ(psns(events[2]), Psns(500, 500));
}

TEST_F(Post, completions_are_matched_across_unsignaled_requests) {
    ibv_qp* qp = device_.qp();
    for (int i = 0; i < 10; ++i)
        post(qp, IBV_WR_SEND, 1, 0, i % 5 == 4 ? IBV_SEND_SIGNALED : 0);
    completes(qp, 0);
    completes(qp, 0);
    const auto events = trace_.events("wc");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].number("request"), 4U);
    EXPECT_EQ(events[1].number("request"), 9U);
    const interpose::TracedQueuePair& pair = *interpose::queue_pairs.find(qp);
    EXPECT_EQ(pair.sends.count(), 0U);
}

TEST_F(Post, error_completions_are_matched_by_wr_id_in_both_queues) {
    ibv_qp* qp = device_.qp();
    post(qp, IBV_WR_SEND, 1, 5, 0);
    ibv_recv_wr receive{};
    receive.wr_id = 6;
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad), 0);
    completes(qp, 5, IBV_WC_RETRY_EXC_ERR);
    completes(qp, 6, IBV_WC_WR_FLUSH_ERR);
    const auto events = trace_.events("wc");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].text("queue"), "send");
    EXPECT_EQ(events[0].number("request"), 0U);
    EXPECT_EQ(events[1].text("queue"), "recv");
}

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

// On a full queue, with a list that is longer than the queue.
TEST_F(Post, that_is_refused_does_not_change_which_requests_are_outstanding) {
    ibv_qp* qp = device_.qp();
    for (std::uint64_t i = 0; i < PretendDevice::depth; ++i)
        post(qp, IBV_WR_SEND, 1, i);
    ibv_sge sge{0, 1, 0};
    std::vector<ibv_send_wr> list(std::size_t{3} * PretendDevice::depth,
                                  request(IBV_WR_SEND, sge, 1000));
    for (std::size_t i = 1; i < list.size(); ++i)
        list[i - 1].next = &list[i];
    ibv_send_wr* bad = nullptr;
    device_.refuse_after = 0;
    EXPECT_EQ(ibv_post_send(qp, list.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, list.data());
    device_.refuse_after = 1;
    EXPECT_EQ(ibv_post_send(qp, list.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, &list[1]);
    EXPECT_EQ(interpose::queue_pairs.find(qp)->sends.count(), PretendDevice::depth + 1);
    trace_.events();
    for (std::uint64_t i = 0; i < PretendDevice::depth; ++i)
        completes(qp, i);
    completes(qp, 1000);
    const auto events = trace_.events("wc");
    ASSERT_EQ(events.size(), PretendDevice::depth + 1);
    for (std::size_t i = 0; i < events.size(); ++i)
        EXPECT_EQ(events[i].number("request"), i);
}

TEST_F(Post, of_receives_that_is_refused_does_not_change_which_are_outstanding) {
    ibv_qp* qp = device_.qp();
    std::vector<ibv_recv_wr> list(std::size_t{3} * PretendDevice::depth);
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i].wr_id = i;
        list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    ibv_recv_wr* bad = nullptr;
    device_.refuse_after = PretendDevice::depth;
    EXPECT_EQ(ibv_post_recv(qp, list.data(), &bad), ENOMEM);
    device_.refuse_after = 0;
    EXPECT_EQ(ibv_post_recv(qp, bad, &bad), ENOMEM);
    for (std::uint64_t i = 0; i < PretendDevice::depth; ++i)
        completes(qp, i, IBV_WC_SUCCESS, IBV_WC_RECV);
    const auto events = trace_.events("wc");
    ASSERT_EQ(events.size(), PretendDevice::depth);
    for (std::size_t i = 0; i < events.size(); ++i)
        EXPECT_EQ(events[i].number("request"), i);
    interpose::bury(interpose::detach(qp));
    const auto destroyed = trace_.events("destroyed");
    ASSERT_EQ(destroyed.size(), 1U);
    EXPECT_EQ(destroyed[0].number("receives_posted"), PretendDevice::depth);
    EXPECT_EQ(destroyed[0].number("receives_outstanding"), 0U);
    EXPECT_FALSE(destroyed[0].number("forgotten"));
    interpose::adopt(qp, {false, nullptr, {64, 64, 1, 1, 0}}, nullptr);
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

// A thread that the child does not have may hold any of the locks.
TEST_F(Post, the_child_of_a_fork_can_make_and_destroy_queue_pairs_whatever_others_did_meanwhile) {
    std::atomic<bool> done{false};
    const auto make_one = [] {
        interpose::TracedQueuePair* pair = interpose::make_queue_pair(8, 8, true);
        interpose::retire_queue_pair(pair);
    };
    std::array<std::thread, 2> others;
    for (std::thread& other : others)
        other = std::thread([&] {
            while (!done)
                make_one();
        });
    int hung = 0;
    for (int i = 0; i < 300; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            interpose::reset_locks();
            make_one();
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

TEST_F(Post, a_batch_may_poll_before_it_is_complete) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 100, true);
    ibv_qp_ex* extended = PretendDevice::extended(qp);
    ibv_wr_start(extended);
    ibv_wr_send(extended);
    completes(qp, 0, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_wr_complete(extended), 0);
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
    EXPECT_EQ(logged["dropped"], 0U);
}

TEST_F(Post, a_number_that_is_used_again_is_another_queue_pair) {
    ibv_qp* qp = device_.qp(IBV_QPT_RC, 5);
    post(qp, IBV_WR_SEND, 1);
    interpose::bury(interpose::detach(qp));
    interpose::adopt(qp, {false, nullptr, {64, 64, 1, 1, 0}}, nullptr);
    post(qp, IBV_WR_SEND, 1);
    const auto events = trace_.events("post_send");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(psns(events[1]), none);
    EXPECT_EQ(events[1].number("request"), 0U);
}

}  // namespace post_test
