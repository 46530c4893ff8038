// Failed calls that exceed a limit, or come in the wrong state.
#include "trace/explain/account.hpp"

namespace explain_test {

class FailedCall : public Account {
  protected:
    void has_device(std::string_view role = "client") {
        log(role, R"("event":"device","device":"rxe0","max_qp_wr":1000,"max_sge":32,"max_cqe":500,)"
                  R"("max_mr_size":4096,"max_qp_rd_atom":128,"max_qp_init_rd_atom":64)");
    }
    void has_pair() {
        log("client", R"("event":"qp","qpn":33,"type":"RC","max_send_wr":16,"max_recv_wr":4,)"
                      R"("max_send_sge":1,"max_recv_sge":2,"max_inline_data":64)");
    }
    void fails(std::string_view call, std::string_view rest) {
        log("client",
            R"("event":"failed","call":")" + std::string(call) + R"(",)" + std::string(rest));
    }
    /// The end of the sentence, after the error, and the values of the log.
    std::string reason() {
        last_ = explained();
        if (last_.causes.size() != 1 || first().code != explain::Code::CallFailed)
            return "other causes";
        std::string text = first().text.substr(first().text.rfind(": ") + 2);
        text.pop_back();  // the full stop
        for (std::size_t i = 1; i < first().evidence.size(); ++i)
            text += "\n" + first().evidence[i].text;
        return text;
    }
};

TEST_F(FailedCall, has_both_values_as_evidence_and_the_limit_in_its_advice) {
    has_device();
    fails("ibv_create_qp", R"("error":"EINVAL","type":"RC","max_send_wr":2000,"max_recv_wr":1,)"
                           R"("max_send_sge":33,"max_recv_sge":1,"max_inline_data":0)");
    EXPECT_EQ(causes(), R"(
call-failed certain, fatal
  client
  the call ibv_create_qp of the client failed with EINVAL: max_send_wr 2000 is more than the device allows (max_qp_wr 1000); max_send_sge 33 is more than the device allows (max_sge 32).
  client log: failed    ibv_create_qp: EINVAL
  client: max_send_wr 2000, max_qp_wr 1000 of the device
  client: max_send_sge 33, max_sge 32 of the device
)");
    EXPECT_EQ(first().advice(),
              "Ask for at most 1000 (max_send_wr); ibv_devinfo -v prints what the device allows.");
}

struct Exceeding {
    const char* call;
    const char* fields;
    const char* reason;
};
class CallWith : public FailedCall, public testing::WithParamInterface<Exceeding> {};

TEST_P(CallWith, a_value_above_a_limit_names_it) {
    has_device();
    has_pair();
    fails(GetParam().call, R"("error":"EINVAL",)" + std::string(GetParam().fields));
    EXPECT_EQ(reason(), GetParam().reason);
    EXPECT_EQ(first().certainty, explain::Certainty::Certain);
}

INSTANTIATE_TEST_SUITE_P(
    All, CallWith,
    testing::Values(
        Exceeding{"ibv_create_qp_ex", R"("max_send_wr":1,"max_recv_wr":1001)",
                  "max_recv_wr 1001 is more than the device allows (max_qp_wr 1000)\n"
                  "max_recv_wr 1001, max_qp_wr 1000 of the device"},
        Exceeding{"ibv_create_qp", R"("max_send_sge":32,"max_recv_sge":40)",
                  "max_recv_sge 40 is more than the device allows (max_sge 32)\n"
                  "max_recv_sge 40, max_sge 32 of the device"},
        Exceeding{"ibv_create_cq", R"("asked":501)",
                  "cqe 501 is more than the device allows (max_cqe 500)\n"
                  "cqe 501, max_cqe 500 of the device"},
        Exceeding{"ibv_reg_mr", R"("len":4097)",
                  "length 4097 is more than the device allows (max_mr_size 4096)\n"
                  "length 4097, max_mr_size 4096 of the device"},
        Exceeding{"ibv_modify_qp", R"("qpn":33,"from":"RTR","to":"RTS","max_rd_atomic":65)",
                  "max_rd_atomic 65 is more than the device allows (max_qp_init_rd_atom 64)\n"
                  "max_rd_atomic 65, max_qp_init_rd_atom 64 of the device"},
        Exceeding{"ibv_modify_qp", R"("qpn":33,"from":"INIT","to":"RTR","max_dest_rd_atomic":129)",
                  "max_dest_rd_atomic 129 is more than the device allows (max_qp_rd_atom 128)\n"
                  "max_dest_rd_atomic 129, max_qp_rd_atom 128 of the device"},
        Exceeding{"ibv_modify_qp",
                  R"("error":"EINVAL","qpn":33,"from":"INIT","to":"RTR","mask":1216897)",
                  "its ah_attr has no GRH (is_global is 0), and RoCE reaches the peer only by its "
                  "GID\nmask 0x129181 has IBV_QP_AV, and ah_attr no GID"},
        Exceeding{"ibv_post_send",
                  R"("qpn":33,"state":"RTS","sges":[{"addr":1,"length":2,"lkey":3},)"
                  R"({"addr":1,"length":2,"lkey":3}],"more_sges":3)",
                  "5 scatter-gather entries are more than its queue pair was made for "
                  "(max_send_sge 1)\n5 entries, max_send_sge 1 of QP 0x000021"},
        Exceeding{"ibv_post_send",
                  R"("qpn":33,"state":"RTS","send_flags":"SIGNALED INLINE","len":65)",
                  "65 inline bytes are more than its queue pair was made for (max_inline_data 64)\n"
                  "65 inline bytes, max_inline_data 64 of QP 0x000021"},
        Exceeding{"ibv_wr_complete", R"("qpn":33,"send_flags":"INLINE","len":65)",
                  "65 inline bytes are more than its queue pair was made for (max_inline_data 64)\n"
                  "65 inline bytes, max_inline_data 64 of QP 0x000021"},
        Exceeding{"ibv_post_recv",
                  R"("qpn":33,"sges":[{"addr":1,"length":2,"lkey":3}],"more_sges":2)",
                  "3 scatter-gather entries are more than its queue pair was made for "
                  "(max_recv_sge 2)\n3 entries, max_recv_sge 2 of QP 0x000021"},
        Exceeding{"ibv_reg_mr_iova2", R"("len":4097)",
                  "length 4097 is more than the device allows (max_mr_size 4096)\n"
                  "length 4097, max_mr_size 4096 of the device"},
        Exceeding{"ibv_post_send",
                  R"("qpn":33,"state":"RTS","opcode":"ATOMIC_CMP_AND_SWP","remote_va":4097)",
                  "the address 0x1001 of the atomic operation is not a multiple of 8\n"
                  "remote_va 0x1001"},
        Exceeding{"ibv_post_send", R"("qpn":33,"state":"RTR")",
                  "its queue pair was in RTR\nstate RTR, RTS or later needed"},
        Exceeding{"ibv_wr_complete", R"("qpn":33,"state":"INIT")",
                  "its queue pair was in INIT\nstate INIT, RTS or later needed"},
        Exceeding{"ibv_post_recv", R"("qpn":33,"state":"RESET")",
                  "its queue pair was in RESET\nstate RESET, INIT or later needed"},
        Exceeding{"rdma_connect", R"("port_space":262,"private_data_len":57)",
                  "57 bytes of private data are more than the message has room for (56)\n"
                  "private_data_len 57, at most 56 in port space RDMA_PS_TCP"},
        Exceeding{"rdma_accept", R"("port_space":262,"private_data_len":197)",
                  "197 bytes of private data are more than the message has room for (196)\n"
                  "private_data_len 197, at most 196 in port space RDMA_PS_TCP"},
        Exceeding{"rdma_connect", R"("responder_resources":129,"initiator_depth":255)",
                  "responder_resources 129 is more than the device allows (max_qp_rd_atom 128)\n"
                  "responder_resources 129, max_qp_rd_atom 128 of the device"},
        Exceeding{"rdma_accept", R"("responder_resources":128,"initiator_depth":65)",
                  "initiator_depth 65 is more than the device allows (max_qp_init_rd_atom 64)\n"
                  "initiator_depth 65, max_qp_init_rd_atom 64 of the device"}));

class CallWithin : public FailedCall,
                   public testing::WithParamInterface<std::pair<const char*, const char*>> {};

// The sentence is the general meaning of the error.
TEST_P(CallWithin, all_limits_has_no_reason) {
    has_device();
    has_pair();
    fails(GetParam().first, R"("error":"EINVAL",)" + std::string(GetParam().second));
    EXPECT_EQ(answered(), "call-failed certain");
    EXPECT_EQ(first().evidence.size(), 1U);
    EXPECT_TRUE(first().try_this.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, CallWithin,
    testing::Values(
        std::pair("ibv_create_qp", R"("max_send_wr":1000,"max_send_sge":32,"max_inline_data":0)"),
        std::pair("ibv_create_cq", R"("asked":500)"), std::pair("ibv_reg_mr", R"("len":4096)"),
        std::pair("ibv_modify_qp",
                  R"("from":"INIT","to":"RTR","mask":1216897,"gid_index":1,"dest_gid":"fe80::1")"),
        std::pair("ibv_modify_qp", R"("from":"INIT","to":"RTR","mask":1)"),
        std::pair("ibv_post_send", R"("qpn":33,"state":"RTS","send_flags":"INLINE","len":64,)"
                                   R"("sges":[{"addr":1,"length":64,"lkey":3}])"),
        std::pair("ibv_post_send", R"("qpn":33,"state":"ERR","send_flags":"SIGNALED","len":65)"),
        std::pair("ibv_post_send",
                  R"("qpn":33,"state":"RTS","opcode":"ATOMIC_CMP_AND_SWP","remote_va":4096)"),
        std::pair("ibv_post_send",
                  R"("qpn":33,"state":"RTS","opcode":"RDMA_WRITE","remote_va":4097)"),
        std::pair("ibv_post_recv", R"("qpn":33,"state":"INIT","receives_outstanding":4)"),
        std::pair("rdma_connect", R"("port_space":262,"private_data_len":56)"),
        // Another port space has other headers.
        std::pair("rdma_connect", R"("port_space":273,"private_data_len":57)"),
        // As many as the device allows.
        std::pair("rdma_connect", R"("responder_resources":255,"initiator_depth":255)")));

TEST_F(FailedCall, in_a_log_without_limits_has_the_meaning_of_its_error) {
    log("client", R"("event":"qp","qpn":33,"type":"RC","max_send_wr":16)");
    fails("ibv_post_send",
          R"("error":"EINVAL","qpn":33,"state":"RTS","send_flags":"INLINE","len":65)");
    fails("ibv_create_qp", R"("error":"EINVAL","max_send_wr":2000)");
    EXPECT_EQ(answered(), "call-failed certain");
    EXPECT_TRUE(
        first().text.starts_with("the call ibv_post_send of the client failed with EINVAL: "
                                 "a queue pair that is not in RTS, "))
        << first().text;
}

// The log has neither limits nor the state of the refused call, but the other events of the pair.
TEST_F(FailedCall, in_an_older_log_has_the_state_of_the_last_change) {
    log("client", R"("event":"qp","qpn":33,"type":"RC","max_send_wr":16)");
    log("client", R"("event":"qp_state","qpn":33,"state":"INIT")");
    fails("ibv_post_send", R"("error":"EINVAL","qpn":33)");
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS")");
    EXPECT_EQ(reason(), "its queue pair was in INIT\nstate INIT, RTS or later needed");
}

TEST_F(FailedCall, to_create_a_queue_pair_within_all_limits_asks_for_too_much_inline_data) {
    has_device();
    fails("ibv_create_qp", R"("error":"EINVAL","type":"RC","max_send_wr":8,"max_recv_wr":1,)"
                           R"("max_send_sge":1,"max_recv_sge":1,"max_inline_data":1048576)");
    EXPECT_EQ(causes(), R"(
call-failed likely, fatal
  client
  the call ibv_create_qp of the client failed with EINVAL: max_inline_data 1048576 is the only value for which the device states no limit; the others are within its limits.
  client log: failed    ibv_create_qp: EINVAL
  client: max_inline_data 1048576
)");
}

TEST_F(FailedCall, that_posts_to_a_full_receive_queue_has_its_size) {
    has_pair();
    fails("ibv_post_recv", R"("error":"ENOMEM","qpn":33,"receives_outstanding":4)");
    EXPECT_EQ(reason(), "the receive queue was full\nmax_recv_wr 4, 4 receives outstanding");
}

// Some devices refuse it with ENOMEM.
TEST_F(FailedCall, with_too_many_entries_is_no_full_send_queue) {
    has_pair();
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"sends_outstanding":16,"more_sges":1,)"
                           R"("sges":[{"addr":1,"length":2,"lkey":3}])");
    EXPECT_EQ(reason(),
              "2 scatter-gather entries are more than its queue pair was made for "
              "(max_send_sge 1)\n2 entries, max_send_sge 1 of QP 0x000021");
}

// The larger limit: the log does not tell on which device the call failed.
TEST_F(FailedCall, of_a_program_with_two_devices_has_the_larger_limit) {
    log("client", R"("event":"device","device":"a","max_cqe":900)");
    log("client", R"("event":"device","device":"b","max_cqe":100)");
    has_device("server");
    fails("ibv_create_cq", R"("error":"EINVAL","asked":901)");
    EXPECT_EQ(reason(),
              "cqe 901 is more than the device allows (max_cqe 900)\n"
              "cqe 901, max_cqe 900 of the device");
}

// A queue pair of unknown size: the log has zeros.
TEST_F(FailedCall, of_an_opened_queue_pair_has_no_limit) {
    log("client", R"("event":"qp","qpn":33,"type":"XRC_RECV","max_send_wr":0,"max_recv_wr":0,)"
                  R"("max_send_sge":0,"max_recv_sge":0,"max_inline_data":0)");
    fails("ibv_post_send",
          R"("error":"EINVAL","qpn":33,"state":"RTS","send_flags":"INLINE","len":65)");
    EXPECT_EQ(answered(), "call-failed certain");
    EXPECT_EQ(first().evidence.size(), 1U);
}

// Another cause may follow from the call.
TEST_F(FailedCall, with_a_reason_is_a_cause_beside_others) {
    connect();
    has_device();
    posts_send(100, 8);
    completes("LOC_PROT_ERR");
    fails("ibv_create_cq", R"("error":"EINVAL","asked":501)");
    EXPECT_EQ(answered(), "local-protection certain");
    ASSERT_EQ(last_.causes.size(), 2U);
    EXPECT_EQ(last_.causes[1].code, explain::Code::CallFailed);
}

// The program tried something out, and went on; its log broke off early.
TEST_F(FailedCall, before_a_queue_pair_was_connected_is_no_failure_if_the_log_has_no_end) {
    has_device();
    fails("ibv_create_cq", R"("error":"EINVAL","asked":501)");
    connect();
    EXPECT_EQ(answered(), "none");
    log("client", R"("event":"process_end","pid":1,"exit_status":1)");
    EXPECT_EQ(answered(), "call-failed certain");
}

TEST_F(FailedCall, that_a_macro_replaced_has_the_meaning_of_the_one_that_was_written) {
    fails("ibv_reg_mr_iova2", R"("error":"EINVAL","access":"remote_write")");
    EXPECT_EQ(reason(), "remote write and atomics need local write");
}

TEST_F(FailedCall, posts_a_receive_although_the_receives_are_shared) {
    log("client", R"("event":"qp","qpn":33,"type":"RC","srq":3)");
    fails("ibv_post_recv", R"("error":"EINVAL","qpn":33,"state":"RTS")");
    EXPECT_EQ(reason(),
              "its queue pair takes its receives from a shared receive queue\n"
              "shared receive queue 3 of QP 0x000021");
}

TEST_F(FailedCall, is_the_reason_why_the_peer_is_not_ready) {
    make("server", server());
    ready("server", server());
    make("client", client());
    fails("ibv_modify_qp",
          R"("error":"EINVAL","qpn":33,"from":"INIT","to":"RTR","attr_mask":1216897)");
    auto made = packet(to_client, opcode::send_only, 500, 8);
    made.bth->a = true;
    for (int copy = 0; copy < 3; ++copy) {
        add(made);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "call-failed certain");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(FailedCall, has_no_error_that_the_log_does_not_have) {
    connect();
    fails("ibv_reg_mr", R"("len":8)");
    EXPECT_EQ(answered(), "call-failed certain");
    EXPECT_EQ(first().text, "the call ibv_reg_mr of the client failed.");
}

}  // namespace explain_test
