// The posts and completions of one thread that the interposing library logs, and the PSNs that it
// predicts.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rocetrace/interpose/pretended_posts.hpp"
#include "rocetrace/tracelog/record.hpp"

namespace post_test {

using interpose_test::Post;
using interpose_test::Psns;
using support::PretendDevice;

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

// More records of one thread than its ring has room for, before they are read.
TEST_F(Post, what_the_ring_has_no_room_for_is_counted) {
    constexpr std::uint64_t more = 1000;
    const auto expect_counted = [&](std::string_view name, std::uint64_t made) {
        const std::uint64_t dropped = trace_.dropped();
        EXPECT_GE(dropped, more) << name;
        EXPECT_EQ(trace_.events(name).size() + dropped, made) << name;
    };
    ibv_qp* qp = device_.qp();
    trace_.events();
    trace_.dropped();
    constexpr std::uint64_t sends =
        support::PretendTrace::capacity / sizeof(tracelog::PostSend) * 2 + more;
    for (std::uint64_t i = 0; i < sends; ++i)
        post(qp, IBV_WR_SEND, 1, i);
    expect_counted("post_send", sends);

    constexpr std::size_t completions =
        support::PretendTrace::capacity / sizeof(tracelog::Wc) + more;
    ibv_wc wc{};
    wc.qp_num = qp->qp_num;
    wc.opcode = IBV_WC_RECV;
    device_.completions.assign(completions, wc);
    std::vector<ibv_wc> polled(completions);
    EXPECT_EQ(ibv_poll_cq(device_.cq(), static_cast<int>(completions), polled.data()),
              static_cast<int>(completions));
    expect_counted("wc", completions);
}

}  // namespace post_test
