// Completion queues, memory regions and queue pairs of a pretended library.
#include "rdma/completion.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <sys/resource.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdma/capability.hpp"
#include "rdma/describe.hpp"
#include "rdma/pretend_library.hpp"
#include "support/error_text.hpp"

namespace completion_test {

using namespace std::chrono_literals;
using support::error_text;
using Lines = std::vector<std::string>;

class Completions : public testing::Test {
  protected:
    Completions() : context_(&library_.add("rxe0").extended.context) {}

    static ibv_wc completion(std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS) {
        ibv_wc wc{};
        wc.wr_id = wr_id;
        wc.status = status;
        return wc;
    }

    rdma_test::PretendLibrary library_;
    util::StopSignal stop_;
    ibv_context* context_;
};

TEST_F(Completions, a_queue_is_made_with_its_channel_and_asks_for_an_event) {
    {
        const rdma::CompletionQueue queue(context_, 16);
        EXPECT_EQ(queue.channel.get(), &library_.comp_channel);
        EXPECT_EQ(queue.cq.get(), &library_.cq);
        EXPECT_EQ(library_.calls(), (Lines{"ibv_create_comp_channel()",
                                           "ibv_create_cq(16, true, 0)", "ibv_req_notify_cq(0)"}));
    }
    EXPECT_EQ(library_.calls(), (Lines{"ibv_destroy_cq()", "ibv_destroy_comp_channel()"}));
}

TEST_F(Completions, a_queue_that_cannot_be_made_throws_the_call) {
    library_.error = ENOMEM;
    for (const char* call : {"ibv_create_comp_channel", "ibv_create_cq", "ibv_req_notify_cq"}) {
        library_.failing = call;
        try {
            const rdma::CompletionQueue queue(context_, 1);
            ADD_FAILURE() << call;
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.what(), std::string(call) + ": Cannot allocate memory");
        }
    }
}

TEST_F(Completions, that_are_there_are_returned_without_a_wait) {
    rdma::CompletionQueue queue(context_, 1);
    library_.calls();
    library_.completions = {completion(5), completion(6)};
    EXPECT_EQ(queue.next(stop_, std::nullopt)->wr_id, 5U);
    EXPECT_EQ(queue.next(stop_, std::nullopt)->wr_id, 6U);
    EXPECT_EQ(library_.calls(), (Lines{"ibv_poll_cq()", "ibv_poll_cq()"}));
}

// The notification is requested before the second poll, so that no completion is missed.
TEST_F(Completions, that_arrive_later_are_returned_after_the_event) {
    rdma::CompletionQueue queue(context_, 1);
    library_.calls();
    library_.completions_after_event = {completion(7)};
    library_.wake();
    EXPECT_EQ(queue.next(stop_, util::deadline_in(5s))->wr_id, 7U);
    EXPECT_EQ(library_.calls(),
              (Lines{"ibv_poll_cq()", "ibv_get_cq_event()", "ibv_ack_cq_events(1)",
                     "ibv_req_notify_cq(0)", "ibv_poll_cq()"}));
}

TEST_F(Completions, none_is_returned_at_the_deadline_or_after_a_signal) {
    rdma::CompletionQueue queue(context_, 1);
    EXPECT_EQ(queue.next(stop_, util::deadline_in(1ms)).has_value(), false);
    raise(SIGTERM);
    EXPECT_EQ(queue.next(stop_, std::nullopt).has_value(), false);
}

TEST_F(Completions, a_queue_that_cannot_be_read_throws) {
    rdma::CompletionQueue queue(context_, 1);
    library_.polled = -1;
    EXPECT_EQ(error_text([&] { queue.next(stop_, std::nullopt); }),
              "ibv_poll_cq failed: the completion queue is broken.");
    library_.polled = 0;
    library_.error = EIO;
    for (const char* call : {"ibv_get_cq_event", "ibv_req_notify_cq"}) {
        library_.failing = call;
        library_.wake();
        EXPECT_THROW(queue.next(stop_, util::deadline_in(5s)), std::system_error) << call;
    }
}

TEST_F(Completions, a_request_succeeds_fails_or_does_not_complete) {
    EXPECT_EQ(rdma::expect_success(completion(8), "the write").wr_id, 8U);
    EXPECT_EQ(error_text([] { rdma::expect_success(std::nullopt, "the write"); }),
              "the write did not complete in time: the peer does not respond. Is it still "
              "running?");
    EXPECT_EQ(
        error_text([] { rdma::expect_success(completion(8, IBV_WC_REM_ACCESS_ERR), "the write"); }),
        "the write failed: REM_ACCESS_ERR (remote access error).");
}

TEST_F(Completions, are_described_with_what_is_valid_in_them) {
    ibv_wc wc = completion(9);
    wc.qp_num = 17;
    wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    wc.byte_len = 30;
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = htonl(0x1234);
    wc.vendor_err = 4;
    EXPECT_EQ(rdma::describe(wc), (runlog::Fields{{"qpn", 17U},
                                                  {"wr_id", 9U},
                                                  {"status", "SUCCESS"},
                                                  {"opcode", "RECV_RDMA_WITH_IMM"},
                                                  {"byte_len", 30U},
                                                  {"imm", 0x1234U}}));
    wc.wc_flags = 0;
    EXPECT_EQ(rdma::describe(wc).size(), 5U);
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.opcode = IBV_WC_RDMA_WRITE;
    EXPECT_EQ(rdma::describe(wc).size(), 5U);
    wc.status = IBV_WC_WR_FLUSH_ERR;
    EXPECT_EQ(rdma::describe(wc),
              (runlog::Fields{
                  {"qpn", 17U}, {"wr_id", 9U}, {"status", "WR_FLUSH_ERR"}, {"vendor_err", 4U}}));
}

TEST_F(Completions, requests_are_described_with_their_target_and_their_length) {
    std::array<ibv_sge, 2> entries{{{0, 1000, 0}, {0, 24, 0}}};
    ibv_qp qp{};
    qp.qp_num = 17;
    qp.qp_type = IBV_QPT_RC;
    ibv_send_wr wr{};
    wr.wr_id = 7;
    wr.sg_list = entries.data();
    wr.num_sge = 2;
    wr.imm_data = htonl(0x55);
    wr.wr.rdma.remote_addr = 0x2000;
    wr.wr.rdma.rkey = 0x42;
    const auto text = [&](ibv_wr_opcode opcode) {
        wr.opcode = opcode;
        return runlog::to_json({0, "", "", rdma::describe(qp, wr, std::nullopt)}).substr(30);
    };
    EXPECT_EQ(
        text(IBV_WR_RDMA_WRITE),
        R"(,"qpn":17,"wr_id":7,"opcode":"RDMA_WRITE","len":1024,"remote_va":8192,"rkey":66})");
    EXPECT_EQ(text(IBV_WR_RDMA_READ),
              R"(,"qpn":17,"wr_id":7,"opcode":"RDMA_READ","len":1024,"remote_va":8192,"rkey":66})");
    EXPECT_EQ(text(IBV_WR_RDMA_WRITE_WITH_IMM),
              R"(,"qpn":17,"wr_id":7,"opcode":"RDMA_WRITE_WITH_IMM","len":1024,)"
              R"("remote_va":8192,"rkey":66,"imm":85})");
    EXPECT_EQ(text(IBV_WR_SEND_WITH_IMM),
              R"(,"qpn":17,"wr_id":7,"opcode":"SEND_WITH_IMM","len":1024,"imm":85})");
    EXPECT_EQ(text(IBV_WR_SEND), R"(,"qpn":17,"wr_id":7,"opcode":"SEND","len":1024})");
}

TEST_F(Completions, the_state_of_a_queue_pair_is_queried_in_one_call) {
    ibv_qp qp{};
    qp.qp_num = 17;
    ibv_qp_attr& attr = library_.qp_attr;
    attr.qp_state = IBV_QPS_RTS;
    attr.dest_qp_num = 18;
    attr.sq_psn = 100;
    attr.rq_psn = 200;
    attr.path_mtu = IBV_MTU_1024;
    attr.ah_attr.grh.sgid_index = 3;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 6;
    EXPECT_EQ(rdma::query_state(&qp), (runlog::Fields{{"qpn", 17U},
                                                      {"state", "RTS"},
                                                      {"dest_qpn", 18U},
                                                      {"sq_psn", 100U},
                                                      {"rq_psn", 200U},
                                                      {"path_mtu", 1024U},
                                                      {"gid_index", std::uint8_t{3}},
                                                      {"timeout", std::uint8_t{14}},
                                                      {"retry_cnt", std::uint8_t{7}},
                                                      {"rnr_retry", std::uint8_t{6}}}));
    const int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN | IBV_QP_DEST_QPN |
                     IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                     IBV_QP_RNR_RETRY;
    EXPECT_EQ(library_.calls(), Lines{fmt::format("ibv_query_qp({:#x})", mask)});
}

TEST_F(Completions, memory_is_registered_with_the_access_that_was_asked_for) {
    std::vector<std::byte> memory(100);
    rdma::register_memory(nullptr, memory, IBV_ACCESS_REMOTE_READ).reset();
    EXPECT_EQ(library_.calls(), (Lines{"ibv_reg_mr(100, 4)", "ibv_dereg_mr()"}));
    library_.failing = "ibv_reg_mr";
    library_.error = EFAULT;
    const auto refusal = [&] {
        return error_text([&] { rdma::register_memory(nullptr, memory, 0); });
    };
    EXPECT_EQ(refusal(), "ibv_reg_mr(100 bytes) failed: Bad address.");
    library_.error = ENOMEM;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    const rlimit limited{std::min<rlim_t>(before.rlim_max, 65536), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limited), 0);
    EXPECT_EQ(refusal(), fmt::format("ibv_reg_mr(100 bytes) failed: Cannot allocate memory. The "
                                     "locked-memory limit is {} KiB: raise it with ulimit -l.",
                                     limited.rlim_cur / 1024));
    setrlimit(RLIMIT_MEMLOCK, &before);
}

TEST_F(Completions, objects_that_cannot_be_destroyed_are_reported) {
    testing::internal::CaptureStderr();
    rdma::report_failed_destroy("ibv_dealloc_pd", EBUSY);
    errno = EINVAL;
    rdma::report_failed_destroy("ibv_close_device", -1);
    errno = EPERM;
    rdma::report_failed_destroy("ibv_close_device", 0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "ibv_dealloc_pd failed: Device or resource busy\n"
              "ibv_close_device failed: Invalid argument\n"
              "ibv_close_device failed: Operation not permitted\n");
}

TEST_F(Completions, a_capability_is_read_from_the_private_data_of_a_connection) {
    const rdma::Capability capability{.va = 0x1000, .length = 64, .rkey = 5};
    auto bytes = capability.serialize();
    rdma_conn_param received{};
    received.private_data = bytes.data();
    received.private_data_len = static_cast<std::uint8_t>(bytes.size());
    EXPECT_EQ(rdma::Capability::parse(received), capability);
    received.private_data_len = 10;
    EXPECT_EQ(error_text([&] { rdma::Capability::parse(received); }),
              "the peer's private data has 10 bytes, but a capability has 24: the peer runs "
              "another program.");
    bytes[0] = std::byte{0};
    received.private_data_len = 24;
    EXPECT_EQ(error_text([&] { rdma::Capability::parse(received); }),
              "the peer's private data begins with 0x00574c01, but a capability begins with "
              "0x52574c01: the peer runs another program or another version.");
    EXPECT_EQ(rdma::describe(capability, "sent"),
              (runlog::Fields{{"direction", "sent"},
                              {"channel", "rdma_cm private data"},
                              {"va", std::uint64_t{0x1000}},
                              {"len", std::uint64_t{64}},
                              {"rkey", 5U}}));
}

}  // namespace completion_test
