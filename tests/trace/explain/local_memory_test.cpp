// Memory that the queue pair of the program itself may not use.
#include "trace/explain/scene.hpp"

namespace explain_test {

struct Request {
    const char* name;
    const char* opcode;
    std::uint64_t addr;  // of 64 B
    std::uint32_t lkey;
    const char* answer;
    const char* text;  // what is added to the sentence
};

class LocalMemory : public Scene {
  protected:
    static std::string sges(std::uint64_t addr, std::uint32_t lkey) {
        return R"(,"len":64,"sges":[{"addr":)" + std::to_string(addr) + R"(,"length":64,"lkey":)" +
               std::to_string(lkey) + "}]";
    }
    void memory(std::string_view role, std::uint32_t lkey, std::string_view access, int pd = 1) {
        log_at_once(role, R"("event":"pd","handle":)" + std::to_string(pd));
        log(role, R"("event":"mr","va":4096,"len":4096,"rkey":0,"lkey":)" + std::to_string(lkey) +
                      R"(,"access":")" + std::string(access) + R"(","pd":)" + std::to_string(pd));
    }
    void deregister(std::string_view role, std::uint32_t lkey) {
        log(role,
            R"("event":"destroyed","what":"mr","va":4096,"rkey":0,"lkey":)" + std::to_string(lkey));
    }
    void posts(std::string_view opcode, std::uint64_t addr, std::uint32_t lkey,
               std::string_view flags = "SIGNALED") {
        log("client", R"("event":"post_send","qpn":33,"wr_id":1,"request":0,"opcode":")" +
                          std::string(opcode) + R"(","send_flags":")" + std::string(flags) + '"' +
                          sges(addr, lkey));
    }
    void receives(std::uint32_t lkey) {
        log("server", R"("event":"post_recv","qpn":17,"wr_id":5)" + sges(4096, lkey));
    }
    void receive_fails(std::string_view status) {
        log("server", R"("event":"wc","qpn":17,"wr_id":5,"queue":"recv","request":0,"status":")" +
                          std::string(status) + '"');
    }
};

class LocalMemoryOf : public LocalMemory, public testing::WithParamInterface<Request> {
  protected:
    void ends_in(std::string_view status) {
        connect();
        memory("client", 1, "local_write");
        memory("client", 2, "");
        memory("client", 3, "local_write", 2);
        memory("client", 4, "local_write");
        deregister("client", 4);
        memory("server", 5, "local_write");
        posts(GetParam().opcode, GetParam().addr, GetParam().lkey);
        completes(status);
    }
};

TEST_P(LocalMemoryOf, a_request_is_compared_with_its_region) {
    ends_in("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), GetParam().answer);
    EXPECT_NE(first().text.find(GetParam().text), std::string::npos) << first().text;
}

// As Soft-RoCE of Linux 6.12 reports it.
TEST_P(LocalMemoryOf, a_request_that_was_flushed_without_an_error_is_compared_as_well) {
    ends_in("WR_FLUSH_ERR");
    const bool has_fault = GetParam().answer != std::string("local-protection possible");
    EXPECT_EQ(answered(), has_fault ? GetParam().answer : "none");
}

TEST_F(LocalMemory, of_a_flushed_request_is_shown_with_its_post_and_its_completion) {
    connect();
    memory("client", 1, "local_write");
    posts("SEND", 8192, 1);
    completes("WR_FLUSH_ERR");
    answered();
    std::vector<std::string> evidence;
    for (const explain::Evidence& one : first().evidence)
        evidence.push_back(one.text);
    EXPECT_EQ(evidence,
              (std::vector<std::string>{"post_send  wr 1 SEND 64 B", "wc  wr 1 WR_FLUSH_ERR",
                                        "memory 0x1000 + 4096 B  lkey 0x00000001  local_write"}));
}

INSTANTIATE_TEST_SUITE_P(
    All, LocalMemoryOf,
    testing::Values(
        Request{"fits", "SEND", 4096, 1, "local-protection possible", "in this way."},
        Request{"is_read", "SEND", 4096, 2, "local-protection possible", "in this way."},
        Request{"is_written_by_a_read", "RDMA_READ", 4096, 2, "local-protection certain",
                ": the region with lkey 0x00000002 does not allow local_write."},
        Request{"is_written_by_an_atomic", "ATOMIC_FETCH_AND_ADD", 4096, 2,
                "local-protection certain",
                ": the region with lkey 0x00000002 does not allow local_write."},
        Request{"has_another_domain", "RDMA_WRITE", 4096, 3, "local-protection certain",
                "lkey 0x00000003 is in protection domain 2, and the queue pair in 1."},
        Request{"is_gone", "RDMA_WRITE_WITH_IMM", 4096, 4, "local-protection certain",
                ": the region with lkey 0x00000004 was deregistered before."},
        Request{"ends_behind_it", "SEND", 8192 - 63, 1, "local-protection certain",
                ": 0x1fc1 + 64 B is not within the region with lkey 0x00000001."},
        Request{"is_the_peers", "SEND", 4096, 5, "local-protection certain",
                ": the client has no memory region with lkey 0x00000005."}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(LocalMemory, is_no_cause_of_a_flush_that_the_program_asked_for) {
    connect();
    memory("client", 1, "local_write");
    posts("SEND", 4096, 99);
    log("client", R"("event":"qp_state","qpn":33,"state":"ERR")");
    completes("WR_FLUSH_ERR");
    EXPECT_EQ(answered(), "none");
}

TEST_F(LocalMemory, is_no_cause_of_a_flush_if_it_was_deregistered_after_the_request_was_posted) {
    connect();
    memory("client", 1, "local_write");
    posts("SEND", 4096, 1);
    deregister("client", 1);
    completes("WR_FLUSH_ERR");
    EXPECT_EQ(answered(), "none");
}

TEST_F(LocalMemory, of_inline_data_needs_no_region) {
    connect();
    memory("client", 1, "local_write");
    posts("SEND", 4096, 99, "SIGNALED INLINE");
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection likely");
}

TEST_F(LocalMemory,
       that_was_deregistered_before_the_program_knew_of_the_error_is_likely_the_cause) {
    connect();
    memory("client", 1, "local_write");
    posts("SEND", 4096, 1);
    deregister("client", 1);
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection likely");
    EXPECT_NE(first().text.find("was deregistered before"), std::string::npos);
}

TEST_F(LocalMemory, of_a_log_that_lacks_events_is_not_missed) {
    connect();
    memory("client", 1, "local_write");
    log("client", R"("event":"dropped","records":12)");
    posts("SEND", 4096, 99);
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection likely");
}

TEST_F(LocalMemory, of_a_receive_needs_local_write) {
    connect();
    memory("server", 1, "local_write");
    memory("server", 2, "");
    receives(2);
    posts_send(100, 64);
    send(100, 64);
    nak(100, 0x63);
    completes("REM_OP_ERR");
    receive_fails("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection certain");
    EXPECT_NE(first().text.find("lkey 0x00000002 does not allow local_write"), std::string::npos);
    EXPECT_EQ(last_.causes.size(), 1U);
    EXPECT_NE(first().advice().find("IBV_ACCESS_LOCAL_WRITE"), std::string::npos);
}

TEST_F(LocalMemory, of_a_receive_of_datagrams_is_compared_as_well) {
    Pair at = server();
    at.type = "UD";
    make("server", at);
    memory("server", 2, "");
    receives(2);
    receive_fails("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection certain");
}

}  // namespace explain_test
