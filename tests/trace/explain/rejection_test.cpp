// What explanations of rejected and dropped requests say about the responder's program.
#include "trace/explain/manager.hpp"

namespace explain_test {

// What the program of the responder did with two requests: JSON of its events, and the end of the text.
struct Rejecter {
    const char* name;
    std::vector<std::string> events;
    std::int64_t goes_on_ns;
    const char* text;
};
class Rejecting : public Manager, public testing::WithParamInterface<Rejecter> {
  protected:
    static std::string call(std::string_view name, int id, std::string_view more = "") {
        return fmt::format(R"("event":"cm_call","call":"{}","id":{}{})", name, id, more);
    }
    void responder_does(const Rejecter& one) {
        for (const std::string& event : one.events)
            log("server", event);
        wait(one.goes_on_ns);
        log("server", R"("event":"process_end","pid":1,"exit_status":0)");
    }
};

TEST_P(Rejecting, program_is_named_with_what_it_did) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    manage(2, Message::ConnectRequest, clients, 0);
    manage(2, Message::ConnectRequest, clients + 1, 0);
    reject(28);
    responder_does(GetParam());
    EXPECT_EQ(answered(), "cm-rejected certain");
    EXPECT_TRUE(first().text.ends_with(GetParam().text)) << first().text;
}

TEST_P(Rejecting, program_is_named_by_the_logs_alone) {
    for (int id = 7; id < 9; ++id)
        log("client", call("rdma_connect", id));
    log("client", R"("event":"cm_event","type":"REJECTED","status":28,"id":8)");
    responder_does(GetParam());
    EXPECT_EQ(answered(), "cm-rejected likely");
    EXPECT_TRUE(first().text.ends_with(GetParam().text)) << first().text;
}

const std::string listens = R"("event":"cm_call","call":"rdma_listen","id":1,"backlog":1)";
std::string asked(int id) {
    return fmt::format(R"("event":"cm_event","type":"CONNECT_REQUEST","status":0,"id":{})", id);
}
std::string did(std::string_view call, int id) {
    return fmt::format(R"("event":"cm_call","call":"{}","id":{})", call, id);
}

INSTANTIATE_TEST_SUITE_P(
    All, Rejecting,
    testing::Values(
        Rejecter{"call", {listens, asked(2), did("rdma_reject", 2)}, 0, "It called rdma_reject."},
        Rejecter{
            "failure",
            {listens, asked(2), R"("event":"failed","call":"rdma_accept","id":2,"error":"EINVAL")"},
            0,
            "Its rdma_accept failed (EINVAL)."},
        Rejecter{"destroyed",
                 {listens, asked(2), did("rdma_accept", 2), did("rdma_destroy_id", 2), asked(3),
                  did("rdma_destroy_id", 3)},
                 0,
                 "It destroyed the ID of a request that it had not accepted."},
        Rejecter{
            "end",
            {listens, asked(2), did("rdma_accept", 2)},
            0,
            "Its program took 1 of 2 requests before it ended: the kernel rejected the others."},
        Rejecter{"goes_on",
                 {listens, asked(2), did("rdma_accept", 2)},
                 5'000'000'000,
                 "(the program refused it)."},
        Rejecter{"unknown",
                 {listens, asked(2), asked(3), did("rdma_accept", 2), did("rdma_accept", 3)},
                 0,
                 "(the program refused it)."},
        // The lessons' own logs have no calls of librdmacm.
        Rejecter{"own_log", {asked(2)}, 5'000'000'000, "(the program refused it)."}),
    [](const auto& one) { return one.param.name; });

// {backlog, requests that the program takes before the last one is sent, whether it is answered, cause}
class Backlog : public Manager,
                public testing::WithParamInterface<std::tuple<int, int, bool, const char*>> {};

TEST_P(Backlog, that_is_full_makes_the_kernel_drop_a_request) {
    const auto& [backlog, taken, is_answered, expected] = GetParam();
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server",
        fmt::format(R"("event":"cm_call","call":"rdma_listen","id":1,"backlog":{})", backlog));
    for (std::uint32_t id = clients; id < clients + 2; ++id)
        manage(2, Message::ConnectRequest, id, 0);
    for (int id = 0; id < taken; ++id)
        log("server", asked(id));
    wait(1 * ms);
    manage(2, Message::ConnectRequest, clients + 2, 0);
    for (std::uint32_t id = clients; id < clients + 2; ++id)
        manage(1, Message::ConnectReply, servers + id, id);
    wait(6000 * ms);
    manage(2, Message::ConnectRequest, clients + 2, 0);
    for (std::uint32_t id = clients; id < clients + 2; ++id)
        manage(2, Message::ReadyToUse, id, servers + id);
    if (is_answered) {
        manage(1, Message::ConnectReply, servers, clients + 2);
        manage(2, Message::ReadyToUse, clients + 2, servers);
    }
    EXPECT_EQ(answered(), expected);
    EXPECT_EQ(last_.has_failed, !is_answered);
    EXPECT_EQ(first().text.find("The backlog of rdma_listen") != std::string::npos,
              backlog + taken <= 2)
        << first().text;
}

INSTANTIATE_TEST_SUITE_P(All, Backlog,
                         testing::Values(std::tuple(2, 0, true, "cm-no-answer likely"),
                                         std::tuple(1, 1, true, "cm-no-answer likely"),
                                         std::tuple(2, 1, true, "cm-no-answer possible"),
                                         std::tuple(3, 0, true, "cm-no-answer possible"),
                                         std::tuple(2, 0, false, "cm-no-answer certain")));

}  // namespace explain_test
