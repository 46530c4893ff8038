// The calls that make and destroy objects: what reaches the provider, the result that the program
// gets, and the log.
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rocetrace/interpose/context_calls.hpp"

namespace object_calls_test {

using namespace interpose_test;

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
        EXPECT_EQ(new_lines(), Lines{row.event});
        provider_.refusal = EACCES;
        EXPECT_FALSE(row.call()) << row.event;
        EXPECT_EQ(new_lines(), Lines{"failed call=" + row.failure});
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
    EXPECT_EQ(new_lines(),
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
    EXPECT_EQ(new_lines(), Lines{"failed call=ibv_create_qp_ex error=EINVAL type=UC max_send_wr=7 "
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
    EXPECT_EQ(new_lines(), Lines{"qp qpn=48 type=RC max_send_wr=0 max_recv_wr=0 max_send_sge=0 "
                                 "max_recv_sge=0 max_inline_data=0 signals_all=false"});
    EXPECT_EQ(provider_.qp.wr_start, own);
    EXPECT_EQ(interpose::queue_pairs.find(&provider_.qp.qp_base)->batch, nullptr);
}

TEST_F(ContextCalls, an_opened_queue_pair_is_logged_like_a_new_one) {
    ibv_qp_open_attr attr{};
    attr.qp_num = Provider::qpn;
    EXPECT_EQ(provider_.extended().open_qp(provider_.context(), &attr), &provider_.qp.qp_base);
    EXPECT_EQ(new_lines(), Lines{"qp qpn=48 type=RC max_send_wr=0 max_recv_wr=0 max_send_sge=0 "
                                 "max_recv_sge=0 max_inline_data=0 send_cq=4 recv_cq=4 "
                                 "signals_all=false"});
    provider_.refusal = ENOENT;
    EXPECT_EQ(provider_.extended().open_qp(provider_.context(), &attr), nullptr);
    EXPECT_EQ(new_lines(), Lines{"failed call=ibv_open_qp error=ENOENT qpn=48"});
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
    EXPECT_EQ(new_lines(), Lines{"cq cq=6 entries=128"});
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
    new_lines();
    provider_.refusal = ENOMEM;
    attr.cqe = 55;
    EXPECT_EQ(context.create_cq_ex(provider_.context(), &attr), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(new_lines(), Lines{"failed call=ibv_create_cq_ex error=ENOMEM asked=55"});
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
    EXPECT_EQ(new_lines(), Lines{"destroyed what=window rkey=119"});
}

TEST_F(ContextCalls, an_object_made_during_a_destruction_has_a_later_time) {
    provider_.during = [&] {
        provider_.during = {};
        std::thread([&] { EXPECT_EQ(ibv_dealloc_mw(&provider_.mw), 0); }).join();
    };
    EXPECT_NE(ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_1), nullptr);
    const auto lines = new_lines();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], "destroyed what=window rkey=119");
    EXPECT_TRUE(lines[1].starts_with("mw_made")) << lines[1];
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

}  // namespace object_calls_test
