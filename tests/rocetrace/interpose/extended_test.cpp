// The requests of the ibv_wr_* interface and the completions of ibv_cq_ex: what reaches the
// provider, and what is logged.
#include <array>
#include <functional>

#include <gtest/gtest.h>

#include "rocetrace/interpose/provider.hpp"

namespace extended_test {

using interpose_test::line_of;
using interpose_test::list_of;
using interpose_test::new_lines;
using Lines = std::vector<std::string>;

class ExtendedInterface : public testing::Test {
  protected:
    void SetUp() override { new_lines(); }
    // A request in a batch of its own.
    Lines batch(const std::function<void(ibv_qp_ex*)>& request) {
        ibv_wr_start(&provider_.qp);
        provider_.qp.wr_id = 1;
        provider_.qp.wr_flags = IBV_SEND_SIGNALED;
        request(&provider_.qp);
        EXPECT_EQ(ibv_wr_complete(&provider_.qp), 0);
        return new_lines();
    }
    // A completion queue that reports these completions, the first by start_poll.
    ibv_cq_ex* queue() {
        ibv_cq_ex& cq = provider_.extended_cq;
        cq.context = provider_.context();
        cq.start_poll = [](ibv_cq_ex* at, ibv_poll_cq_attr*) { return poll(at); };
        cq.next_poll = [](ibv_cq_ex* at) { return poll(at); };
        cq.read_opcode = [](ibv_cq_ex*) { return current().opcode; };
        cq.read_vendor_err = [](ibv_cq_ex*) { return current().vendor_err; };
        cq.read_byte_len = [](ibv_cq_ex*) { return current().byte_len; };
        cq.read_qp_num = [](ibv_cq_ex*) { return current().qp_num; };
        cq.read_imm_data = [](ibv_cq_ex*) { return current().imm_data; };
        cq.read_wc_flags = [](ibv_cq_ex*) { return current().wc_flags; };
        return &cq;
    }
    static ibv_wc& current() {
        static ibv_wc wc{};
        return wc;
    }
    static std::vector<ibv_wc>& waiting() {
        static std::vector<ibv_wc> all;
        return all;
    }
    static int poll(ibv_cq_ex* cq) {
        errno = EDOM;
        if (waiting().empty())
            return ENOENT;
        current() = waiting().front();
        waiting().erase(waiting().begin());
        cq->wr_id = current().wr_id;
        cq->status = current().status;
        return 0;
    }
    static ibv_wc completion(std::uint64_t wr_id, ibv_wc_opcode opcode,
                             ibv_wc_status status = IBV_WC_SUCCESS) {
        ibv_wc wc{};
        wc.wr_id = wr_id;
        wc.opcode = opcode;
        wc.status = status;
        wc.qp_num = interpose_test::Provider::qpn;
        wc.byte_len = 70;
        wc.vendor_err = 99;
        wc.imm_data = htonl(0x1234);
        return wc;
    }

    interpose_test::Provider provider_;
};

struct Row {
    std::function<void(ibv_qp_ex*)> request;
    std::string reached;
    std::string event;
};

TEST_F(ExtendedInterface, hands_each_request_to_the_provider_and_logs_its_parameters) {
    ibv_mw_bind_info bind{};
    bind.length = 44;
    const std::array<Row, 12> rows{{
        {[](auto* qp) { ibv_wr_atomic_cmp_swp(qp, 17, 4096, 5, 6); }, "cmp_swp(17, 4096, 5, 6)",
         "opcode=ATOMIC_CMP_AND_SWP len=0 remote_va=4096 rkey=17 compare=5 swap=6 psn_first=100 "
         "psn_last=100 request=0"},
        {[](auto* qp) { ibv_wr_atomic_fetch_add(qp, 17, 4096, 7); }, "fetch_add(17, 4096, 7)",
         "opcode=ATOMIC_FETCH_AND_ADD len=0 remote_va=4096 rkey=17 add=7 psn_first=101 "
         "psn_last=101 request=1"},
        {[&](auto* qp) { ibv_wr_bind_mw(qp, &provider_.mw, 18, &bind); }, "bind_mw(119, 18, 44)",
         "opcode=BIND_MW len=0 request=2"},
        {[](auto* qp) { ibv_wr_local_inv(qp, 19); }, "local_inv(19)",
         "opcode=LOCAL_INV len=0 invalidates=19 request=3"},
        {[](auto* qp) { ibv_wr_rdma_read(qp, 20, 8192); }, "read(20, 8192)",
         "opcode=RDMA_READ len=0 remote_va=8192 rkey=20 psn_first=102 psn_last=102 request=4"},
        {[](auto* qp) { ibv_wr_rdma_write(qp, 21, 8193); }, "write(21, 8193)",
         "opcode=RDMA_WRITE len=0 remote_va=8193 rkey=21 psn_first=103 psn_last=103 request=5"},
        {[](auto* qp) { ibv_wr_rdma_write_imm(qp, 22, 8194, htonl(0x1234)); },
         "write_imm(22, 8194, 4660)",
         "opcode=RDMA_WRITE_WITH_IMM len=0 remote_va=8194 rkey=22 imm=4660 psn_first=104 "
         "psn_last=104 request=6"},
        {[](auto* qp) { ibv_wr_send(qp); }, "send()",
         "opcode=SEND len=0 psn_first=105 psn_last=105 request=7"},
        {[](auto* qp) { ibv_wr_send_imm(qp, htonl(0x1235)); }, "send_imm(4661)",
         "opcode=SEND_WITH_IMM len=0 imm=4661 psn_first=106 psn_last=106 request=8"},
        {[](auto* qp) { ibv_wr_send_inv(qp, 23); }, "send_inv(23)",
         "opcode=SEND_WITH_INV len=0 invalidates=23 psn_first=107 psn_last=107 request=9"},
        {[](auto* qp) { ibv_wr_send_tso(qp, nullptr, 54, 1000); }, "send_tso(54, 1000)",
         "opcode=TSO len=54 psn_first=108 psn_last=108 request=10"},
        {[](auto* qp) { ibv_wr_atomic_write(qp, 24, 8195, "8 bytes"); }, "atomic_write(24, 8195)",
         "opcode=ATOMIC_WRITE len=8 remote_va=8195 rkey=24 psn_first=109 psn_last=109 "
         "request=11"},
    }};
    provider_.begin();
    for (const Row& row : rows) {
        EXPECT_EQ(batch(row.request),
                  Lines{fmt::format("post_send qpn=48 wr_id=1 {} signaled=true", row.event)});
        EXPECT_EQ(provider_.reached(), (Lines{"start()", row.reached, "complete()"}));
    }
}

// Of a type that a template depends on: the headers of Debian 12 have no wr_flush.
template <typename Pair>
std::function<void(Pair*)> flush() {
    if constexpr (requires(Pair * qp) { qp->wr_flush; })
        return [](Pair* qp) { qp->wr_flush(qp, 25, 8196, 5000, 0, 1); };
    return nullptr;
}

TEST_F(ExtendedInterface, logs_a_flush_as_one_packet) {
    const auto request = flush<ibv_qp_ex>();
    if (!request)
        GTEST_SKIP() << "the headers of libibverbs have no wr_flush";
    provider_.begin();
    EXPECT_EQ(batch(request),
              Lines{"post_send qpn=48 wr_id=1 opcode=FLUSH len=5000 remote_va=8196 rkey=25 "
                    "psn_first=100 psn_last=100 request=0 signaled=true"});
    EXPECT_EQ(provider_.reached(), (Lines{"start()", "flush(25, 8196, 5000)", "complete()"}));
}

TEST_F(ExtendedInterface, logs_the_gather_list_and_the_flags_of_a_request) {
    provider_.begin();
    const std::array<ibv_sge, 2> entries{{{4096, 100, 7}, {8192, 20, 8}}};
    std::array<char, 8> data{};
    ibv_wr_start(&provider_.qp);
    provider_.qp.wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
    ibv_wr_send(&provider_.qp);
    ibv_wr_set_sge_list(&provider_.qp, 2, entries.data());
    provider_.qp.wr_flags = 0;
    ibv_wr_send(&provider_.qp);
    ibv_wr_set_sge(&provider_.qp, 9, 12288, 30);
    ibv_wr_send(&provider_.qp);
    ibv_wr_set_inline_data(&provider_.qp, data.data(), data.size());
    EXPECT_EQ(ibv_wr_complete(&provider_.qp), 0);
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(interpose_test::list_of(events[0]),
              "send_flags=FENCE SIGNALED sges=4096+100/7,8192+20/8");
    EXPECT_EQ(interpose_test::list_of(events[1]), "sges=12288+30/9");
    EXPECT_EQ(interpose_test::list_of(events[2]),
              fmt::format("send_flags=INLINE sges={}+8/0",
                          reinterpret_cast<std::uintptr_t>(data.data())));
}

TEST_F(ExtendedInterface, adds_up_the_data_of_a_request) {
    std::array<ibv_sge, 2> entries{{{0, 1000, 0}, {0, 1050, 0}}};
    std::array<ibv_data_buf, 2> buffers{{{nullptr, 30}, {nullptr, 12}}};
    const std::array<Row, 4> rows{{
        {[&](auto* qp) { ibv_wr_set_sge_list(qp, 2, entries.data()); }, "sge_list(2)",
         "len=2050 psn_first=100 psn_last=102 request=0"},
        {[&](auto* qp) { ibv_wr_set_inline_data_list(qp, 2, buffers.data()); }, "inline_list(2)",
         "len=42 psn_first=103 psn_last=103 request=1"},
        {[](auto* qp) { ibv_wr_set_inline_data(qp, nullptr, 11); }, "inline(11)",
         "len=11 psn_first=104 psn_last=104 request=2"},
        {[](auto* qp) { ibv_wr_set_sge(qp, 5, 4096, 1024); }, "sge(5, 4096, 1024)",
         "len=1024 psn_first=105 psn_last=105 request=3"},
    }};
    provider_.begin();
    for (const Row& row : rows) {
        const auto lines = batch([&](ibv_qp_ex* qp) {
            ibv_wr_send(qp);
            row.request(qp);
        });
        EXPECT_EQ(lines, Lines{fmt::format("post_send qpn=48 wr_id=1 opcode=SEND {} signaled=true",
                                           row.event)});
        EXPECT_EQ(provider_.reached(), (Lines{"start()", "send()", row.reached, "complete()"}));
    }
}

TEST_F(ExtendedInterface, logs_the_destination_of_a_datagram_and_of_an_xrc_request) {
    provider_.begin(IBV_QPT_XRC_SEND);
    const auto xrc = batch([](ibv_qp_ex* qp) {
        ibv_wr_rdma_write(qp, 17, 4096);
        ibv_wr_set_xrc_srqn(qp, 6);
    });
    EXPECT_EQ(xrc, Lines{"post_send qpn=48 wr_id=1 opcode=RDMA_WRITE len=0 remote_va=4096 rkey=17 "
                         "srqn=6 psn_first=100 psn_last=100 request=0 signaled=true"});
    EXPECT_EQ(provider_.reached(),
              (Lines{"start()", "write(17, 4096)", "xrc_srqn(6)", "complete()"}));
    interpose_test::Provider other;
    other.begin(IBV_QPT_UD);
    ibv_wr_start(&other.qp);
    ibv_wr_send(&other.qp);
    ibv_wr_set_ud_addr(&other.qp, nullptr, 0xffffff, 0x80000001);
    EXPECT_EQ(ibv_wr_complete(&other.qp), 0);
    EXPECT_EQ(new_lines(), Lines{"post_send qpn=48 wr_id=0 opcode=SEND len=0 dest_qpn=16777215 "
                                 "q_key=2147483649 ah=0 psn_first=100 psn_last=100 request=0 "
                                 "signaled=false"});
    EXPECT_EQ(other.reached(),
              (Lines{"start()", "send()", "ud_addr(16777215, 2147483649)", "complete()"}));
}

TEST_F(ExtendedInterface, logs_a_refused_batch_as_a_failed_call_and_keeps_errno) {
    provider_.begin(IBV_QPT_RC, true);
    ibv_wr_start(&provider_.qp);
    provider_.qp.wr_id = 3;
    ibv_wr_rdma_write(&provider_.qp, 7, 4096);
    const std::array<ibv_sge, 5> entries{{{1, 10, 2}, {3, 20, 4}}};
    ibv_wr_set_sge_list(&provider_.qp, entries.size(), entries.data());
    provider_.qp.wr_id = 0;
    ibv_wr_send(&provider_.qp);
    provider_.refusal = ENOSPC;
    EXPECT_EQ(ibv_wr_complete(&provider_.qp), ENOSPC);
    EXPECT_EQ(errno, ENOSPC);
    const auto events = support::PretendTrace::of_this_process().events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(line_of(events[0]),
              "failed call=ibv_wr_complete error=ENOSPC qpn=48 state=RTS sends_outstanding=0 "
              "requests=2 wr_id=3 opcode=RDMA_WRITE remote_va=4096 rkey=7 len=30");
    EXPECT_EQ(list_of(events[0]), "sges=1+10/2,3+20/4,0+0/0,0+0/0 more_sges=1");
    provider_.refusal = 0;
    ibv_wr_start(&provider_.qp);
    ibv_wr_abort(&provider_.qp);
    EXPECT_EQ(provider_.reached(), (Lines{"start()", "write(7, 4096)", "sge_list(5)", "send()",
                                          "complete()", "start()", "abort()"}));
    provider_.qp.wr_flags = 0;
    ibv_wr_start(&provider_.qp);
    ibv_wr_send(&provider_.qp);
    EXPECT_EQ(ibv_wr_complete(&provider_.qp), 0);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(new_lines(), Lines{"post_send qpn=48 wr_id=0 opcode=SEND len=0 psn_first=100 "
                                 "psn_last=100 request=0 signaled=true"});
}

TEST_F(ExtendedInterface, keeps_the_last_request_of_a_batch_that_is_longer_than_the_queue) {
    provider_.begin();
    ibv_wr_start(&provider_.qp);
    for (unsigned i = 0; i < 6; ++i) {
        provider_.qp.wr_id = i;
        ibv_wr_send(&provider_.qp);
        ibv_wr_set_sge(&provider_.qp, 0, 0, i);
    }
    EXPECT_EQ(ibv_wr_complete(&provider_.qp), 0);
    const auto lines = new_lines();
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[2].substr(0, 45), "post_send qpn=48 wr_id=2 opcode=SEND len=2 ps");
    EXPECT_EQ(lines[3].substr(0, 45), "post_send qpn=48 wr_id=5 opcode=SEND len=5 ps");
}

TEST_F(ExtendedInterface, a_function_that_the_provider_lacks_stays_null) {
    ibv_qp_ex empty{};
    interpose::replace_extended(empty);
    EXPECT_EQ(empty.wr_send, nullptr);
    EXPECT_EQ(empty.wr_complete, nullptr);
}

TEST_F(ExtendedInterface, completions_are_logged_one_by_one_as_they_are_polled) {
    provider_.begin();
    interpose::adopt_extended(queue());
    batch([](ibv_qp_ex* qp) { ibv_wr_send(qp); });
    waiting() = {completion(1, IBV_WC_SEND), completion(2, IBV_WC_RECV_RDMA_WITH_IMM),
                 completion(3, IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR)};
    waiting()[1].wc_flags = IBV_WC_WITH_IMM;
    ibv_cq_ex* cq = &provider_.extended_cq;
    ibv_poll_cq_attr attr{};
    EXPECT_EQ(ibv_start_poll(cq, &attr), 0);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(new_lines(),
              Lines{"wc qpn=48 wr_id=1 status=SUCCESS opcode=SEND byte_len=70 queue=send "
                    "request=0"});
    EXPECT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(new_lines(), Lines{"wc qpn=48 wr_id=2 status=SUCCESS opcode=RECV_RDMA_WITH_IMM "
                                 "byte_len=70 imm=4660 queue=recv"});
    EXPECT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(new_lines(),
              Lines{"wc qpn=48 wr_id=3 status=RETRY_EXC_ERR vendor_err=99 queue=send"});
    EXPECT_EQ(ibv_next_poll(cq), ENOENT);
    EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);
    EXPECT_EQ(new_lines(), Lines{});
}

TEST_F(ExtendedInterface, completions_without_the_optional_functions_have_only_what_is_known) {
    provider_.begin();
    ibv_cq_ex* cq = queue();
    cq->read_byte_len = nullptr;
    cq->read_qp_num = nullptr;
    cq->read_imm_data = nullptr;
    cq->read_wc_flags = nullptr;
    interpose::adopt_extended(cq);
    waiting() = {completion(1, IBV_WC_RECV)};
    ibv_poll_cq_attr attr{};
    EXPECT_EQ(ibv_start_poll(cq, &attr), 0);
    EXPECT_EQ(new_lines(), Lines{"wc qpn=0 wr_id=1 status=SUCCESS opcode=RECV queue=recv"});
}

TEST_F(ExtendedInterface, an_immediate_is_read_only_from_a_completion_that_has_one) {
    ibv_cq_ex* cq = queue();
    static int reads = 0;
    reads = 0;
    cq->read_imm_data = [](ibv_cq_ex*) { return htonl(static_cast<std::uint32_t>(++reads)); };
    interpose::adopt_extended(cq);
    waiting() = {completion(1, IBV_WC_RECV), completion(2, IBV_WC_RECV),
                 completion(3, IBV_WC_RECV)};
    waiting()[1].wc_flags = IBV_WC_GRH;
    waiting()[2].wc_flags = IBV_WC_WITH_IMM;
    ibv_poll_cq_attr attr{};
    EXPECT_EQ(ibv_start_poll(cq, &attr), 0);
    EXPECT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(reads, 0);
    new_lines();
    EXPECT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(new_lines(), Lines{"wc qpn=48 wr_id=3 status=SUCCESS opcode=RECV byte_len=70 imm=1 "
                                 "queue=recv"});
}

}  // namespace extended_test
