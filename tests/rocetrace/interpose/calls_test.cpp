// The functions of a context that the library replaces: what reaches the provider, the result that
// the program gets, and the log.
#include <array>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "rocetrace/interpose/provider.hpp"

namespace calls_test {

using interpose_test::line_of;
using interpose_test::list_of;
using interpose_test::logged;
using interpose_test::Provider;
using Lines = std::vector<std::string>;

class ContextCalls : public testing::Test {
  protected:
    void SetUp() override { logged(); }

    Provider provider_;
};

struct Row {
    std::function<bool()> call;  // whether it succeeded
    std::string reached;
    std::string event;
    std::string failure;
};

TEST_F(ContextCalls, are_logged_with_their_result_or_their_error) {
    verbs_context& context = provider_.extended();
    ibv_context* own = provider_.context();
    ibv_srq_init_attr_ex srq{};
    srq.attr.max_wr = 33;
    ibv_xrcd_init_attr xrcd{};
    xrcd.fd = 8;
    ibv_parent_domain_init_attr domain{};
    provider_.mr.addr = reinterpret_cast<void*>(0x5000);
    provider_.mr.length = 600;
    provider_.mr.lkey = 0xa1;
    provider_.mr.rkey = 0xa2;
    const auto xrcd_address = fmt::format("{}", reinterpret_cast<std::uintptr_t>(&provider_.xrcd));
    const std::array<Row, 8> rows{{
        {[&] { return context.create_srq_ex(own, &srq) == &provider_.srq; }, "create_srq_ex(33)",
         "srq_made srq=5 max_wr=33", "ibv_create_srq_ex error=EACCES"},
        {[&] { return context.open_xrcd(own, &xrcd) == &provider_.xrcd; }, "open_xrcd(8)",
         "xrcd address=" + xrcd_address, "ibv_open_xrcd error=EACCES"},
        {[&] { return context.close_xrcd(&provider_.xrcd) == 0; }, "close_xrcd()",
         "destroyed what=xrcd address=" + xrcd_address,
         "ibv_close_xrcd error=EACCES what=xrcd address=" + xrcd_address},
        {[&] {
             return context.reg_dm_mr(&provider_.pd, nullptr, 64, 600, IBV_ACCESS_REMOTE_READ) ==
                    &provider_.mr;
         },
         "reg_dm_mr(64, 600, 4)",
         "mr va=20480 len=600 lkey=161 rkey=162 access=remote_read pd=9 call=ibv_reg_dm_mr",
         "ibv_reg_dm_mr error=EACCES"},
        {[&] { return context.alloc_null_mr(&provider_.pd) == &provider_.mr; }, "alloc_null_mr()",
         "mr va=20480 len=600 lkey=161 rkey=162 access=local_read pd=9 call=ibv_alloc_null_mr",
         "ibv_alloc_null_mr error=EACCES"},
        {[&] { return context.alloc_parent_domain(own, &domain) == &provider_.pd; },
         "alloc_parent_domain()", "pd handle=9", "ibv_alloc_parent_domain error=EACCES"},
        {[&] { return ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_2) == &provider_.mw; }, "alloc_mw(2)",
         "mw_made type=2 rkey=119", "ibv_alloc_mw error=EACCES"},
        {[&] {
             provider_.mw.rkey = 0x77;
             return ibv_dealloc_mw(&provider_.mw) == 0;
         },
         "dealloc_mw()", "destroyed what=window rkey=119",
         "ibv_dealloc_mw error=EACCES what=window rkey=119"},
    }};
    for (const Row& row : rows) {
        provider_.refusal = 0;
        EXPECT_TRUE(row.call()) << row.event;
        EXPECT_EQ(logged(), Lines{row.event});
        provider_.refusal = EACCES;
        EXPECT_FALSE(row.call()) << row.event;
        EXPECT_EQ(logged(), Lines{"failed call=" + row.failure});
        EXPECT_EQ(provider_.reached(), (Lines{row.reached, row.reached}));
    }
}

TEST_F(ContextCalls, a_queue_pair_of_the_extended_interface_is_logged_and_traced) {
    verbs_context& context = provider_.extended();
    ibv_qp_init_attr_ex attr{};
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.qp_type = IBV_QPT_UC;
    attr.sq_sig_all = 1;
    attr.srq = &provider_.srq;
    attr.cap.max_send_wr = 7;
    attr.cap.max_recv_wr = 8;
    attr.cap.max_send_sge = 2;
    attr.cap.max_recv_sge = 3;
    attr.cap.max_inline_data = 64;
    provider_.qp.qp_base.qp_type = IBV_QPT_UC;
    provider_.qp.qp_base.pd = &provider_.pd;
    provider_.qp.wr_start = [](ibv_qp_ex*) {};
    const auto own = provider_.qp.wr_start;
    EXPECT_EQ(context.create_qp_ex(provider_.context(), &attr), &provider_.qp.qp_base);
    EXPECT_EQ(logged(),
              Lines{"qp qpn=48 type=UC max_send_wr=7 max_recv_wr=8 max_send_sge=2 max_recv_sge=3 "
                    "max_inline_data=64 send_cq=4 recv_cq=4 srq=5 pd=9 signals_all=true"});
    EXPECT_NE(provider_.qp.wr_start, own);
    const interpose::TracedQueuePair* pair = interpose::queue_pairs.find(&provider_.qp.qp_base);
    ASSERT_NE(pair, nullptr);
    EXPECT_TRUE(pair->has_srq);
    EXPECT_TRUE(pair->signals_all);
    EXPECT_EQ(pair->batch_room, 8U);
    provider_.refusal = EINVAL;
    EXPECT_EQ(context.create_qp_ex(provider_.context(), &attr), nullptr);
    EXPECT_EQ(logged(), Lines{"failed call=ibv_create_qp_ex error=EINVAL type=UC max_send_wr=7 "
                              "max_recv_wr=8 max_send_sge=2 max_recv_sge=3 max_inline_data=64"});
    EXPECT_EQ(provider_.reached(), (Lines{"create_qp_ex(65)", "create_qp_ex(65)"}));
}

TEST_F(ContextCalls, a_queue_pair_without_the_functions_of_batches_has_no_batch) {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_RC;
    provider_.qp.qp_base.send_cq = provider_.qp.qp_base.recv_cq = nullptr;
    provider_.qp.wr_start = [](ibv_qp_ex*) {};
    const auto own = provider_.qp.wr_start;
    EXPECT_NE(provider_.extended().create_qp_ex(provider_.context(), &attr), nullptr);
    EXPECT_EQ(logged(), Lines{"qp qpn=48 type=RC max_send_wr=0 max_recv_wr=0 max_send_sge=0 "
                              "max_recv_sge=0 max_inline_data=0 signals_all=false"});
    EXPECT_EQ(provider_.qp.wr_start, own);
    EXPECT_EQ(interpose::queue_pairs.find(&provider_.qp.qp_base)->batch, nullptr);
}

TEST_F(ContextCalls, a_device_that_could_not_be_closed_is_still_traced) {
    interpose::Context* const known = interpose::detach(provider_.context());
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(interpose::detach(provider_.context()), nullptr);
    interpose::attach_again(static_cast<interpose::Context*>(nullptr));
    EXPECT_EQ(interpose::contexts.find(provider_.context()), nullptr);
    interpose::attach_again(known);
    EXPECT_EQ(interpose::contexts.find(provider_.context()), known);
    ibv_qp_open_attr attr{};
    EXPECT_EQ(provider_.extended().open_qp(provider_.context(), &attr), &provider_.qp.qp_base);
}

TEST_F(ContextCalls, an_opened_queue_pair_is_logged_like_a_new_one) {
    ibv_qp_open_attr attr{};
    attr.qp_num = Provider::qpn;
    EXPECT_EQ(provider_.extended().open_qp(provider_.context(), &attr), &provider_.qp.qp_base);
    EXPECT_EQ(logged(), Lines{"qp qpn=48 type=RC max_send_wr=0 max_recv_wr=0 max_send_sge=0 "
                              "max_recv_sge=0 max_inline_data=0 send_cq=4 recv_cq=4 "
                              "signals_all=false"});
    provider_.refusal = ENOENT;
    EXPECT_EQ(provider_.extended().open_qp(provider_.context(), &attr), nullptr);
    EXPECT_EQ(logged(), Lines{"failed call=ibv_open_qp error=ENOENT qpn=48"});
}

TEST_F(ContextCalls, an_extended_completion_queue_is_asked_for_the_qpn_and_the_length) {
    verbs_context& context = provider_.extended();
    provider_.extended_cq.context = provider_.context();
    provider_.extended_cq.handle = 6;
    provider_.extended_cq.cqe = 128;
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 100;
    attr.wc_flags = IBV_WC_EX_WITH_IMM;
    errno = ERANGE;
    EXPECT_EQ(context.create_cq_ex(provider_.context(), &attr), &provider_.extended_cq);
    EXPECT_EQ(attr.cqe, 128U);
    EXPECT_EQ(attr.wc_flags, IBV_WC_EX_WITH_IMM);
    EXPECT_EQ(provider_.reached(), Lines{fmt::format("create_cq_ex(100, {})",
                                                     IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
                                                         IBV_WC_EX_WITH_BYTE_LEN)});
    EXPECT_EQ(logged(), Lines{"cq cq=6 entries=128"});
    EXPECT_NE(interpose::extended_cqs.find(&provider_.extended_cq), nullptr);
    interpose::forget(ibv_cq_ex_to_cq(&provider_.extended_cq));
    EXPECT_EQ(interpose::extended_cqs.find(&provider_.extended_cq), nullptr);
    interpose::forget(ibv_cq_ex_to_cq(&provider_.extended_cq));
}

TEST_F(ContextCalls, an_extended_completion_queue_that_refuses_more_flags_gets_the_programs_own) {
    verbs_context& context = provider_.extended();
    provider_.extended_cq.context = provider_.context();
    provider_.refused_wc_flags = IBV_WC_EX_WITH_QP_NUM;
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 100;
    attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
    EXPECT_EQ(context.create_cq_ex(provider_.context(), &attr), &provider_.extended_cq);
    EXPECT_EQ(provider_.reached(),
              (Lines{fmt::format("create_cq_ex(100, {})",
                                 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_BYTE_LEN),
                     fmt::format("create_cq_ex(100, {})", +IBV_WC_EX_WITH_BYTE_LEN)}));
    interpose::forget(ibv_cq_ex_to_cq(&provider_.extended_cq));
    logged();
    provider_.refusal = ENOMEM;
    attr.cqe = 55;
    EXPECT_EQ(context.create_cq_ex(provider_.context(), &attr), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(logged(), Lines{"failed call=ibv_create_cq_ex error=ENOMEM asked=55"});
}

TEST_F(ContextCalls, a_request_for_a_notification_is_logged) {
    EXPECT_EQ(ibv_req_notify_cq(&provider_.cq, 1), 0);
    provider_.refusal = EIO;
    EXPECT_EQ(ibv_req_notify_cq(&provider_.cq, 0), EIO);
    EXPECT_EQ(provider_.reached(), (Lines{"req_notify_cq(1)", "req_notify_cq(0)"}));
    EXPECT_EQ(logged(), (Lines{"req_notify cq=4 solicited_only=true",
                               "req_notify cq=4 solicited_only=false"}));
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
    EXPECT_EQ(logged(), (Lines{"bind_mw qpn=48 wr_id=12 rkey=119 va=12288 len=256 "
                               "access=remote_write request=0 signaled=false",
                               "bind_mw qpn=48 wr_id=13 rkey=119 va=12288 len=256 "
                               "access=remote_write request=1 signaled=true"}));
    interpose::TracedQueuePair& pair = *interpose::queue_pairs.find(&provider_.qp.qp_base);
    EXPECT_EQ(pair.sends.complete(12, true), -1);  // unsignaled
    EXPECT_EQ(pair.sends.complete(13, true), 1);
    provider_.refusal = EPERM;
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), EPERM);
    EXPECT_EQ(logged(),
              Lines{"failed call=ibv_bind_mw error=EPERM qpn=48 wr_id=13 rkey=119 va=12288 "
                    "len=256 access=remote_write"});
    EXPECT_EQ(pair.sends.posted(), 2U);
    EXPECT_EQ(provider_.reached(), (Lines{"bind_mw(12)", "bind_mw(13)", "bind_mw(13)"}));
}

TEST_F(ContextCalls, a_window_of_a_queue_pair_that_signals_all_is_signaled) {
    provider_.begin(IBV_QPT_RC, true);
    ibv_mw_bind bind{};
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    EXPECT_EQ(logged(), Lines{"bind_mw qpn=48 wr_id=0 rkey=119 va=0 len=0 access=local_read "
                              "request=0 signaled=true"});
}

TEST_F(ContextCalls, a_window_of_an_unknown_queue_pair_only_reaches_the_provider) {
    ibv_mw_bind bind{};
    bind.wr_id = 14;
    EXPECT_EQ(ibv_bind_mw(&provider_.qp.qp_base, &provider_.mw, &bind), 0);
    EXPECT_EQ(provider_.reached(), Lines{"bind_mw(14)"});
    EXPECT_EQ(logged(), Lines{});
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
    EXPECT_EQ(logged(), Lines{});
}

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
    EXPECT_EQ(logged(),
              (Lines{"post_recv srq=5 wr_id=1 len=120", "post_recv srq=5 wr_id=2 len=0"}));
    provider_.refusal = ENOMEM;
    provider_.bad_wr_id = 2;
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &first, &bad), ENOMEM);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(bad, &second);
    EXPECT_EQ(logged(), (Lines{"post_recv srq=5 wr_id=1 len=120",
                               "failed call=ibv_post_srq_recv error=ENOMEM srq=5 wr_id=2 len=0"}));
    EXPECT_EQ(provider_.reached(), (Lines{"post_srq_recv(1)", "post_srq_recv(2)",
                                          "post_srq_recv(1)", "post_srq_recv(refused)"}));
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
    EXPECT_EQ(logged(), Lines{});
    EXPECT_EQ(provider_.reached(), (Lines{"post_srq_recv(0)", "post_recv(0)", "post_send(0)"}));
    EXPECT_EQ(ibv_post_srq_recv(&provider_.srq, &receive, &bad), 0);
    EXPECT_EQ(logged(), Lines{"post_recv srq=5 wr_id=0 len=0"});
}

// The rows that a call logs while it is in progress, and its own, in the order of time.
TEST_F(ContextCalls, has_the_time_at_which_it_began) {
    provider_.during = [] {
        interpose::log(tracelog::EventBytes(tracelog::Category::qp, "inner"));
    };
    EXPECT_NE(ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_1), nullptr);
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].name, "mw_made");
    EXPECT_EQ(events[1].name, "inner");
    EXPECT_LT(events[0].t_ns, events[1].t_ns);
    EXPECT_TRUE(events[0].number("took_us"));
}

TEST_F(ContextCalls, what_follows_waits_for_a_call_in_progress_but_not_for_long) {
    auto& trace = support::PretendTrace::of_this_process();
    std::vector<std::string> soon, late;
    provider_.during = [&] {
        interpose::log(tracelog::EventBytes(tracelog::Category::qp, "inner"));
        const auto names = [&](std::int64_t until_ns) {
            std::vector<std::string> lines;
            for (const runlog::Event& event : trace.events(until_ns))
                lines.push_back(line_of(event));
            return lines;
        };
        soon = names(interpose::now());
        late = names(interpose::now() + tracelog::Merge::patience_ns);
    };
    EXPECT_EQ(ibv_dealloc_mw(&provider_.mw), 0);
    EXPECT_EQ(soon, Lines{});
    EXPECT_EQ(late, (Lines{"begun call=ibv_dealloc_mw what=window rkey=119", "inner"}));
    EXPECT_EQ(logged(), Lines{"destroyed what=window rkey=119"});
}

TEST_F(ContextCalls, an_object_made_during_a_destruction_has_a_later_time) {
    provider_.during = [&] {
        provider_.during = {};
        std::thread([&] { EXPECT_EQ(ibv_dealloc_mw(&provider_.mw), 0); }).join();
    };
    EXPECT_NE(ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_1), nullptr);
    const auto lines = logged();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], "destroyed what=window rkey=119");
    EXPECT_TRUE(lines[1].starts_with("mw_made")) << lines[1];
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
    logged();
    provider_.refusal = ENOMEM;
    bad_send = nullptr;  // a provider may leave it
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), ENOMEM);
    provider_.bad_wr_id = 0;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), ENOMEM);
    EXPECT_EQ(logged(), (Lines{"failed call=ibv_post_send error=ENOMEM qpn=48 state=SQD "
                               "sends_outstanding=2",
                               "failed call=ibv_post_recv error=ENOMEM qpn=48 state=SQD "
                               "receives_outstanding=1 wr_id=0 len=0"}));
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

TEST_F(ContextCalls, no_function_is_replaced_twice) {
    const auto replaced = provider_.context()->ops.post_send;
    interpose::adopt(provider_.context());
    EXPECT_EQ(provider_.context()->ops.post_send, replaced);
    ibv_send_wr send{};
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(&provider_.qp.qp_base, &send, &bad), 0);  // would call itself
    EXPECT_EQ(provider_.reached(), Lines{"post_send(0)"});
    interpose::adopt(static_cast<ibv_context*>(nullptr));
}

}  // namespace calls_test
