// The events about devices and the state of queue pairs, and how completions are matched to the
// requests of a queue pair.

#include <gtest/gtest.h>

#include "rocetrace/interpose/provider.hpp"

namespace state_test {

using interpose_test::new_lines;
using interpose_test::Provider;
using Lines = std::vector<std::string>;

class TracedState : public testing::Test {
  protected:
    void SetUp() override { new_lines(); }
    ~TracedState() override { interpose::trace_only(UINT32_MAX); }
    TracedState() = default;
    TracedState(const TracedState&) = delete;
    TracedState& operator=(const TracedState&) = delete;
    TracedState(TracedState&&) = delete;
    TracedState& operator=(TracedState&&) = delete;

    interpose::TracedQueuePair& pair() {
        return *interpose::queue_pairs.find(&provider_.qp.qp_base);
    }
    void polls(const ibv_wc& wc, ibv_cq& cq) {
        static ibv_wc next;
        next = wc;
        interpose::contexts.find(provider_.context())->ops.poll_cq = [](ibv_cq*, int, ibv_wc* to) {
            *to = next;
            errno = EDOM;
            return 1;
        };
        ibv_wc polled{};
        EXPECT_EQ(interpose::poll_cq(&cq, 1, &polled), 1);
        EXPECT_EQ(errno, EDOM);
        EXPECT_EQ(polled.wr_id, wc.wr_id);
    }
    static void post(interpose::Outstanding& queue, std::uint64_t wr_id, bool is_signaled) {
        queue.stage(wr_id, is_signaled);
        queue.accept();
    }
    static ibv_wc completion(std::uint64_t wr_id, ibv_wc_status status,
                             ibv_wc_opcode opcode = IBV_WC_SEND) {
        ibv_wc wc{};
        wc.wr_id = wr_id;
        wc.status = status;
        wc.opcode = opcode;
        wc.qp_num = Provider::qpn;
        wc.vendor_err = 3;
        wc.byte_len = 5;
        return wc;
    }

    Provider provider_;
};

TEST_F(TracedState, a_gid_of_port_1_is_logged_once) {
    provider_.port.state = IBV_PORT_ACTIVE;
    provider_.port.active_mtu = IBV_MTU_4096;
    errno = ERANGE;
    interpose::log_gid(provider_.context(), 1, 63);
    EXPECT_EQ(errno, ERANGE);
    interpose::log_gid(provider_.context(), 1, 63);
    interpose::log_gid(provider_.context(), 1, 64);  // more than the library keeps account of
    // The entries have no GID.
    EXPECT_EQ(new_lines(),
              Lines{"device device=made_up port=1 state=ACTIVE path_mtu=4096 gid_index=63"});
    interpose::log_gid(provider_.context(), 1, 0);
    interpose::log_gid(provider_.context(), 2, 0);
    interpose::log_gid(provider_.context(), 2, 0);
    EXPECT_EQ(new_lines(),
              (Lines{"device device=made_up port=1 state=ACTIVE path_mtu=4096 gid_index=0",
                     "device device=made_up port=2 state=ACTIVE path_mtu=4096 gid_index=0",
                     "device device=made_up port=2 state=ACTIVE path_mtu=4096 gid_index=0"}));
    EXPECT_EQ(provider_.reached(),
              (Lines{"query_port(1)", "query_port(1)", "query_port(2)", "query_port(2)"}));
}

TEST_F(TracedState, a_port_that_cannot_be_queried_has_only_its_number) {
    provider_.refusal = EIO;
    interpose::log_gid(provider_.context(), 1, 1);
    provider_.refusal = 0;
    provider_.extended().query_port = nullptr;
    interpose::log_gid(provider_.context(), 1, 2);
    EXPECT_EQ(new_lines(), (Lines{"device device=made_up port=1 gid_index=1",
                                  "device device=made_up port=1 gid_index=2"}));
}

TEST_F(TracedState, of_an_opened_device_has_its_limits) {
    provider_.limits.max_qp_wr = 1000;
    provider_.limits.max_sge = 32;
    provider_.limits.max_cqe = 500;
    provider_.limits.max_mr_size = UINT64_MAX;
    provider_.limits.max_qp_rd_atom = 128;
    provider_.limits.max_qp_init_rd_atom = 64;
    interpose::log_opened(interpose::OpenCall("ibv_open_device"), *provider_.context());
    EXPECT_EQ(provider_.reached(), Lines{"query_device_ex(true)"});
    EXPECT_EQ(new_lines(),
              Lines{"device device=made_up max_qp_wr=1000 max_sge=32 max_cqe=500 "
                    "max_mr_size=18446744073709551615 max_qp_rd_atom=128 max_qp_init_rd_atom=64"});
}

TEST_F(TracedState, of_an_opened_device_that_cannot_be_queried_has_its_name) {
    provider_.refusal = EIO;
    interpose::log_opened(interpose::OpenCall("ibv_open_device"), *provider_.context());
    provider_.extended().query_device_ex = nullptr;
    interpose::log_opened(interpose::OpenCall("ibv_open_device"), *provider_.context());
    EXPECT_EQ(new_lines(), (Lines{"device device=made_up", "device device=made_up"}));
}

TEST_F(TracedState, no_device_is_logged_if_it_is_unknown_or_not_wanted) {
    ibv_context other{};
    interpose::log_gid(&other, 1, 0);
    interpose::trace_only(static_cast<std::uint32_t>(tracelog::Category::qp));
    interpose::log_gid(provider_.context(), 1, 0);
    interpose::trace_only(UINT32_MAX);
    EXPECT_EQ(new_lines(), Lines{});
    interpose::log_gid(provider_.context(), 1, 0);
    EXPECT_EQ(new_lines().size(), 1U);
}

TEST_F(TracedState, of_a_queue_pair_has_all_that_is_known) {
    provider_.begin();
    interpose::log_state(pair());
    EXPECT_EQ(new_lines(), Lines{"qp_state qpn=48 state=RTS sq_psn=100 path_mtu=1024"});
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_SQD;
    attr.dest_qp_num = 77;
    attr.rq_psn = 200;
    attr.sq_psn = 0x1000005;  // only 24 bits count
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.sgid_index = 3;
    attr.ah_attr.grh.dgid.raw[15] = 9;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 6;
    attr.min_rnr_timer = 12;
    attr.max_rd_atomic = 2;
    attr.max_dest_rd_atomic = 1;
    attr.qkey = 0x1234;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    pair().modified(attr, ~IBV_QP_PATH_MTU);
    interpose::log_state(pair());
    EXPECT_EQ(new_lines(),
              Lines{"qp_state qpn=48 state=SQD dest_qpn=77 sq_psn=5 rq_psn=200 path_mtu=1024 "
                    "gid_index=3 dest_gid=::9 timeout=14 retry_cnt=7 rnr_retry=6 min_rnr_timer=12 "
                    "max_rd_atomic=2 max_dest_rd_atomic=1 q_key=4660 access=remote_write"});
    attr.ah_attr.is_global = 0;
    attr.qp_state = IBV_QPS_RESET;
    pair().modified(attr, IBV_QP_STATE | IBV_QP_AV);
    interpose::log_state(pair());
    EXPECT_EQ(new_lines(), Lines{"qp_state qpn=48 state=RESET"});
}

TEST_F(TracedState, a_raw_packet_queue_pair_has_no_psns) {
    for (const ibv_qp_type type : {IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER}) {
        interpose::TracedQueuePair raw;
        raw.type = type;
        ibv_qp_attr attr{};
        raw.modified(attr, IBV_QP_SQ_PSN);
        EXPECT_FALSE(raw.knows_psn);
    }
}

TEST_F(TracedState, without_a_path_mtu_each_request_counts_as_one_packet) {
    interpose::TracedQueuePair pair;
    ibv_qp_attr attr{};
    attr.sq_psn = 0xffffff;
    pair.modified(attr, IBV_QP_SQ_PSN);
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    EXPECT_TRUE(pair.take_psns(IBV_WR_RDMA_WRITE, 100000, first, last));
    EXPECT_EQ(first, 0xffffffU);
    EXPECT_EQ(last, 0xffffffU);
    EXPECT_FALSE(pair.take_psns(IBV_WR_LOCAL_INV, 0, first, last));
    EXPECT_FALSE(pair.take_psns(IBV_WR_BIND_MW, 0, first, last));
    EXPECT_EQ(pair.next_psn, 0U);
}

TEST_F(TracedState, the_completion_queue_tells_which_queue_an_error_is_of) {
    ibv_cq receive_cq{};
    receive_cq.context = provider_.context();
    provider_.qp.qp_base.recv_cq = &receive_cq;
    provider_.begin();
    post(pair().sends, 8, true);
    post(pair().receives, 8, true);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR), receive_cq);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV), provider_.cq);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR), receive_cq);  // none is left
    EXPECT_EQ(new_lines(),
              (Lines{"wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=recv request=0",
                     "wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=send request=0",
                     "wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=recv"}));
}

TEST_F(TracedState, the_opcode_tells_which_queue_of_a_shared_completion_queue_is_searched_first) {
    provider_.begin();
    post(pair().sends, 8, false);
    post(pair().receives, 8, true);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV), provider_.cq);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV), provider_.cq);
    polls(completion(8, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV), provider_.cq);
    EXPECT_EQ(new_lines(),
              (Lines{"wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=recv request=0",
                     "wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=send request=0",
                     "wc qpn=48 wr_id=8 status=WR_FLUSH_ERR vendor_err=3 queue=recv"}));
}

TEST_F(TracedState, a_success_completes_only_a_signaled_request_of_its_own_queue) {
    provider_.begin();
    post(pair().sends, 8, false);
    post(pair().receives, 8, true);
    polls(completion(8, IBV_WC_SUCCESS), provider_.cq);
    polls(completion(8, IBV_WC_SUCCESS, IBV_WC_RECV), provider_.cq);
    EXPECT_EQ(new_lines(),
              (Lines{"wc qpn=48 wr_id=8 status=SUCCESS opcode=SEND byte_len=5 queue=send",
                     "wc qpn=48 wr_id=8 status=SUCCESS opcode=RECV byte_len=5 queue=recv "
                     "request=0"}));
}

TEST_F(TracedState, a_completion_of_an_unknown_queue_pair_has_the_queue_of_its_opcode) {
    provider_.begin();
    ibv_wc wc = completion(8, IBV_WC_SUCCESS, IBV_WC_RECV);
    wc.qp_num = 5;
    polls(wc, provider_.cq);
    wc.opcode = IBV_WC_SEND;
    polls(wc, provider_.cq);
    EXPECT_EQ(new_lines(),
              (Lines{"wc qpn=5 wr_id=8 status=SUCCESS opcode=RECV byte_len=5 queue=recv",
                     "wc qpn=5 wr_id=8 status=SUCCESS opcode=SEND byte_len=5 "
                     "queue=send"}));
}

TEST_F(TracedState, no_completion_is_logged_while_the_library_itself_polls_or_none_is_wanted) {
    provider_.begin();
    {
        const interpose::Inside inside(interpose::sink());
        polls(completion(8, IBV_WC_SUCCESS), provider_.cq);
    }
    interpose::trace_only(0);
    polls(completion(8, IBV_WC_SUCCESS), provider_.cq);
    interpose::trace_only(UINT32_MAX);
    EXPECT_EQ(new_lines(), Lines{});
}

TEST_F(TracedState, a_queue_pair_that_could_not_be_destroyed_is_traced_again) {
    provider_.begin();
    interpose::TracedQueuePair* detached = interpose::detach(&provider_.qp.qp_base);
    EXPECT_EQ(interpose::queue_pairs.find(&provider_.qp.qp_base), nullptr);
    interpose::attach_again(detached);
    interpose::attach_again(static_cast<interpose::TracedQueuePair*>(nullptr));
    EXPECT_EQ(interpose::queue_pairs.find(&provider_.qp.qp_base), detached);
    post(detached->sends, 1, true);
    post(detached->sends, 2, true);
    post(detached->receives, 3, true);
    EXPECT_EQ(detached->sends.complete(1, true), 0);
    interpose::bury(interpose::detach(&provider_.qp.qp_base));
    EXPECT_EQ(new_lines(), Lines{"destroyed what=qp qpn=48 sends_posted=2 sends_outstanding=1 "
                                 "receives_posted=1 receives_outstanding=1"});
}

TEST_F(TracedState, only_the_wanted_categories_are_logged_and_failures_always) {
    interpose::trace_only(static_cast<std::uint32_t>(tracelog::Category::event));
    EXPECT_TRUE(interpose::wants(tracelog::Category::event));
    EXPECT_TRUE(interpose::wants(tracelog::Category::always));
    EXPECT_FALSE(interpose::wants(tracelog::Category::mr));
    ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_1);
    ibv_req_notify_cq(&provider_.cq, 0);
    provider_.refusal = EPERM;
    ibv_alloc_mw(&provider_.pd, IBV_MW_TYPE_1);
    EXPECT_EQ(new_lines(), (Lines{"req_notify cq=4 solicited_only=false",
                                  "failed call=ibv_alloc_mw error=EPERM"}));
    EXPECT_TRUE(interpose::is_tracing());
}

// A child of a fork may have a copy of a lock that another thread held.
TEST_F(TracedState, locks_that_a_fork_has_copied_are_released) {
    provider_.begin();
    pair().lock.lock();
    interpose::reset_locks();
    pair().lock.lock();
    pair().lock.unlock();
    EXPECT_EQ(interpose::queue_pairs.find(&provider_.qp.qp_base), &pair());
}

}  // namespace state_test
