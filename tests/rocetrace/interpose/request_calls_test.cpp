// Posted requests, bound windows and requests for notifications: what reaches the provider, the
// result that the program gets, and the log.
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rocetrace/interpose/context_calls.hpp"
#include "rocetrace/tracelog/record.hpp"

namespace request_calls_test {

using namespace interpose_test;

TEST_F(ContextCalls, receives_of_a_shared_queue_are_logged_with_its_handle) {
    std::array<ibv_sge, 2> entries{{{0, 100, 0}, {0, 20, 0}}};
    ibv_recv_wr second{};
    second.wr_id = 2;
    ibv_recv_wr first{};
    first.wr_id = 1;
    first.next = &second;
    first.sg_list = entries.data();
    first.num_sge = 2;
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &first, &bad), 0);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(new_lines(),
              (Lines{"post_recv srq=5 wr_id=1 len=120", "post_recv srq=5 wr_id=2 len=0"}));
    provider_.refusal = ENOMEM;
    provider_.bad_wr_id = 2;
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &first, &bad), ENOMEM);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(bad, &second);
    EXPECT_EQ(new_lines(),
              (Lines{"post_recv srq=5 wr_id=1 len=120",
                     "failed call=ibv_post_srq_recv error=ENOMEM srq=5 wr_id=2 len=0"}));
    EXPECT_EQ(provider_.reached(), (Lines{"post_srq_recv(1)", "post_srq_recv(2)",
                                          "post_srq_recv(1)", "post_srq_recv(refused)"}));
}

TEST_F(ContextCalls, what_the_ring_has_no_room_for_is_counted) {
    auto& trace = support::PretendTrace::of_this_process();
    constexpr std::size_t more = 1000;
    std::vector<ibv_recv_wr> list(support::PretendTrace::capacity / sizeof(tracelog::Header) +
                                  more);
    for (std::size_t i = 1; i < list.size(); ++i)
        list[i - 1].next = &list[i];
    trace.dropped();
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, list.data(), &bad), 0);
    const std::uint64_t receives = trace.dropped();
    EXPECT_GE(receives, more);
    EXPECT_EQ(trace.events("post_recv").size() + receives, list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        interpose::log(tracelog::EventBytes(tracelog::Category::qp, "inner"));
    const std::uint64_t events = trace.dropped();
    EXPECT_GE(events, more);
    EXPECT_EQ(trace.events("inner").size() + events, list.size());
}

TEST_F(ContextCalls, receives_are_logged_with_their_scatter_list) {
    provider_.begin();
    std::array<ibv_sge, 2> entries{{{4096, 100, 7}, {8192, 20, 8}}};
    ibv_recv_wr receive{};
    receive.sg_list = entries.data();
    receive.num_sge = 2;
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &receive, &bad), 0);
    EXPECT_EQ(ibv_post_recv(&provider_.qp.qp_base, &receive, &bad), 0);
    receive.num_sge = 0;
    EXPECT_EQ(ibv_post_recv(&provider_.qp.qp_base, &receive, &bad), 0);
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(list_of(events[0]), "sges=4096+100/7,8192+20/8");
    EXPECT_EQ(list_of(events[1]), "sges=4096+100/7,8192+20/8");
    EXPECT_EQ(list_of(events[2]), "");
}

TEST_F(ContextCalls, sends_are_logged_with_their_gather_list_and_their_flags) {
    provider_.begin();
    std::array<ibv_sge, 5> entries{{{4096, 1, 7}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}}};
    ibv_send_wr send{};
    send.opcode = IBV_WR_SEND;
    send.sg_list = entries.data();
    const std::array<std::pair<int, unsigned>, 3> requests{
        {{1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE | IBV_SEND_IP_CSUM},
         {5, 0},
         {0, IBV_SEND_FENCE}}};
    for (const auto& [entries_used, flags] : requests) {
        send.num_sge = entries_used;
        send.send_flags = flags;
        ibv_send_wr* bad = nullptr;
        EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad), 0);
    }
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(list_of(events[0]), "send_flags=SIGNALED SOLICITED INLINE IP_CSUM sges=4096+1/7");
    EXPECT_EQ(list_of(events[1]), "sges=4096+1/7,2+2/2,3+3/3,4+4/4 more_sges=1");
    EXPECT_EQ(list_of(events[2]), "send_flags=FENCE");
}

// The two values are in the same place, in different byte orders.
TEST_F(ContextCalls, sends_are_logged_with_their_immediate_data_or_the_key_that_they_invalidate) {
    provider_.begin();
    ibv_send_wr send{};
    ibv_send_wr* bad = nullptr;
    const auto line_of_post = [&](ibv_wr_opcode opcode) {
        send.opcode = opcode;
        EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad), 0);
        const auto events = support::PretendTrace::of_this_process().events();
        return events.size() == 1 ? fields_of(events[0], {"imm", "invalidates"}) : "";
    };
    send.imm_data = htonl(0x0102);
    EXPECT_EQ(line_of_post(IBV_WR_SEND_WITH_IMM), "imm=258");
    EXPECT_EQ(line_of_post(IBV_WR_RDMA_WRITE_WITH_IMM), "imm=258");
    EXPECT_EQ(line_of_post(IBV_WR_SEND), "");
    send.invalidate_rkey = 0x0304;
    EXPECT_EQ(line_of_post(IBV_WR_SEND_WITH_INV), "invalidates=772");
    EXPECT_EQ(line_of_post(IBV_WR_LOCAL_INV), "invalidates=772");
}

TEST_F(ContextCalls, a_refused_request_is_logged_with_its_parameters) {
    provider_.begin();
    provider_.refusal = EINVAL;
    provider_.bad_wr_id = 7;
    std::array<ibv_sge, 6> entries{};
    entries[0] = {4096, 100, 7};
    entries[5] = {1, 28, 2};
    ibv_send_wr send{};
    send.wr_id = 7;
    send.opcode = IBV_WR_RDMA_WRITE;
    send.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
    send.wr.rdma = {0x8000, 9};
    send.sg_list = entries.data();
    send.num_sge = 6;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad), EINVAL);
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(line_of(events[0]),
              "failed call=ibv_post_send error=EINVAL qpn=48 state=RTS sends_outstanding=0 wr_id=7 "
              "opcode=RDMA_WRITE remote_va=32768 rkey=9 len=128");
    EXPECT_EQ(list_of(events[0]),
              "send_flags=FENCE SIGNALED "
              "sges=4096+100/7,0+0/0,0+0/0,0+0/0 more_sges=2");
}

TEST_F(ContextCalls, a_refused_request_is_logged_with_the_state_of_its_queue_pair) {
    provider_.begin();
    ibv_send_wr send{};
    ibv_send_wr* bad_send = nullptr;
    ibv_recv_wr receive{};
    ibv_recv_wr* bad_receive = nullptr;
    ibv_qp* const qp = &provider_.qp.qp_base;
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), 0);
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), 0);
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), 0);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_SQD;
    interpose::queue_pairs.find(qp)->modified(attr, IBV_QP_STATE);
    new_lines();
    provider_.refusal = ENOMEM;
    bad_send = nullptr;  // a provider may leave it
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), ENOMEM);
    provider_.bad_wr_id = 0;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), ENOMEM);
    EXPECT_EQ(new_lines(), (Lines{"failed call=ibv_post_send error=ENOMEM qpn=48 state=SQD "
                                  "sends_outstanding=2",
                                  "failed call=ibv_post_recv error=ENOMEM qpn=48 state=SQD "
                                  "receives_outstanding=1 wr_id=0 len=0"}));
}

TEST_F(ContextCalls, a_request_of_an_unknown_queue_pair_only_reaches_the_provider) {
    ibv_send_wr send{};
    send.wr_id = 1;
    ibv_send_wr* bad_send = nullptr;
    ibv_recv_wr receive{};
    receive.wr_id = 2;
    ibv_recv_wr* bad_receive = nullptr;
    EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad_send), 0);
    EXPECT_EQ(ibv_post_recv(&provider_.qp.qp_base, &receive, &bad_receive), 0);
    EXPECT_EQ(provider_.reached(), (Lines{"post_send(1)", "post_recv(2)"}));
    EXPECT_EQ(new_lines(), Lines{});
}

TEST_F(ContextCalls, what_a_provider_posts_by_itself_is_not_logged) {
    provider_.begin();
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    ibv_send_wr send{};
    ibv_send_wr* bad_send = nullptr;
    {
        const interpose::Inside inside(interpose::sink());
        EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &receive, &bad), 0);
        EXPECT_EQ(ibv_post_recv(&provider_.qp.qp_base, &receive, &bad), 0);
        EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad_send), 0);
    }
    EXPECT_EQ(new_lines(), Lines{});
    EXPECT_EQ(provider_.reached(), (Lines{"post_srq_recv(0)", "post_recv(0)", "post_send(0)"}));
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &receive, &bad), 0);
    EXPECT_EQ(new_lines(), Lines{"post_recv srq=5 wr_id=0 len=0"});
}

TEST_F(ContextCalls, a_bound_window_takes_a_place_in_the_send_queue) {
    provider_.begin();
    ibv_mw_bind bind{};
    bind.wr_id = 12;
    bind.bind_info = {&provider_.mr, 0x3000, 256, IBV_ACCESS_REMOTE_WRITE};
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    bind.send_flags = IBV_SEND_SIGNALED;
    bind.wr_id = 13;
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    EXPECT_EQ(new_lines(), (Lines{"bind_mw qpn=48 wr_id=12 rkey=119 va=12288 len=256 "
                                  "access=remote_write request=0 signaled=false",
                                  "bind_mw qpn=48 wr_id=13 rkey=119 va=12288 len=256 "
                                  "access=remote_write request=1 signaled=true"}));
    interpose::TracedQueuePair& pair = *interpose::queue_pairs.find(&provider_.qp.qp_base);
    EXPECT_EQ(pair.sends.complete(12, true), -1);  // unsignaled
    EXPECT_EQ(pair.sends.complete(13, true), 1);
    provider_.refusal = EPERM;
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), EPERM);
    EXPECT_EQ(new_lines(),
              Lines{"failed call=ibv_bind_mw error=EPERM qpn=48 wr_id=13 rkey=119 va=12288 "
                    "len=256 access=remote_write"});
    EXPECT_EQ(pair.sends.posted(), 2U);
    EXPECT_EQ(provider_.reached(), (Lines{"bind_mw(12)", "bind_mw(13)", "bind_mw(13)"}));
}

TEST_F(ContextCalls, a_window_of_a_queue_pair_that_signals_all_is_signaled) {
    provider_.begin(IBV_QPT_RC, true);
    ibv_mw_bind bind{};
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    EXPECT_EQ(new_lines(), Lines{"bind_mw qpn=48 wr_id=0 rkey=119 va=0 len=0 access=local_read "
                                 "request=0 signaled=true"});
}

TEST_F(ContextCalls, a_window_of_an_unknown_queue_pair_only_reaches_the_provider) {
    ibv_mw_bind bind{};
    bind.wr_id = 14;
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    EXPECT_EQ(provider_.reached(), Lines{"bind_mw(14)"});
    EXPECT_EQ(new_lines(), Lines{});
}

TEST_F(ContextCalls, a_request_for_a_notification_is_logged) {
    EXPECT_EQ(ibv_req_notify_cq(&provider_.cq, 1), 0);
    provider_.refusal = EIO;
    EXPECT_EQ(ibv_req_notify_cq(&provider_.cq, 0), EIO);
    EXPECT_EQ(provider_.reached(), (Lines{"req_notify_cq(1)", "req_notify_cq(0)"}));
    EXPECT_EQ(new_lines(), (Lines{"req_notify cq=4 solicited_only=true",
                                  "req_notify cq=4 solicited_only=false"}));
}

}  // namespace request_calls_test
