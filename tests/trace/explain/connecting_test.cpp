// Connections that are not established.
#include "trace/explain/scene.hpp"

namespace explain_test {

using wire::CmAttribute;

class Connecting : public Scene {
  protected:
    static constexpr std::uint32_t clients = 0x51;
    static constexpr std::uint32_t servers = 0x61;

    std::uint64_t ask() { return manage(2, CmAttribute::ConnectRequest, clients, 0); }
    std::uint64_t reject(std::uint16_t reason) {
        return manage(1, CmAttribute::ConnectReject, servers, clients, reason);
    }
};

TEST_F(Connecting, where_nobody_listens) {
    const std::uint64_t request = ask();
    const std::uint64_t answer = reject(8);
    EXPECT_EQ(answered(), "cm-rejected certain");
    EXPECT_NE(first().text.find("no program listens on this port"), std::string::npos);
    EXPECT_TRUE(shows_frame(request));
    EXPECT_TRUE(shows_frame(answer));
}

TEST_F(Connecting, to_a_program_that_refuses) {
    ask();
    reject(28);
    EXPECT_EQ(answered(), "cm-rejected certain");
    EXPECT_NE(first().text.find("the program refused it"), std::string::npos);
}

TEST_F(Connecting, without_a_response) {
    ask();
    wait(4000 * ms);
    const std::uint64_t again = ask();
    EXPECT_EQ(answered(), "cm-no-answer certain");
    EXPECT_TRUE(shows_frame(again));
}

TEST_F(Connecting, once_tells_nothing) {
    ask();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Connecting, with_a_receipt_and_no_response) {
    ask();
    wait(4000 * ms);
    ask();
    manage(1, CmAttribute::MsgRcptAck, servers, clients);
    EXPECT_EQ(answered(), "cm-no-answer certain");
    EXPECT_NE(first().text.find("no program accepted it"), std::string::npos);
}

TEST_F(Connecting, to_a_program_that_ends_before_it_accepts) {
    ask();
    wait(6000 * ms);
    ask();
    wait(3000 * ms);
    reject(28);
    EXPECT_EQ(answered(), "cm-no-answer likely");
}

// The requester itself rejects the connection, because its timeout expired.
TEST_F(Connecting, that_times_out_is_no_rejection) {
    ask();
    wait(4000 * ms);
    ask();
    manage(2, CmAttribute::ConnectReject, clients, 0, 4);
    EXPECT_EQ(answered(), "cm-no-answer certain");
}

TEST_F(Connecting, in_another_partition) {
    manage(2, CmAttribute::ConnectRequest, clients, 0, 0, 0x8123);
    wait(4000 * ms);
    manage(2, CmAttribute::ConnectRequest, clients, 0, 0, 0x8123);
    EXPECT_EQ(answered(), "wrong-pkey likely");
}

TEST_F(Connecting, with_a_late_reply_is_no_failure) {
    ask();
    wait(4000 * ms);
    ask();
    manage(1, CmAttribute::MsgRcptAck, servers, clients);
    manage(1, CmAttribute::ConnectReply, servers, clients);
    manage(2, CmAttribute::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Connecting, with_a_reply_to_the_second_request) {
    ask();
    wait(4000 * ms);
    ask();
    manage(1, CmAttribute::ConnectReply, servers, clients);
    manage(2, CmAttribute::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "cm-no-answer possible");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(Connecting, a_reply_that_is_never_taken) {
    ask();
    manage(1, CmAttribute::ConnectReply, servers, clients);
    wait(4000 * ms);
    manage(1, CmAttribute::ConnectReply, servers, clients);
    EXPECT_EQ(answered(), "cm-no-answer certain");
    EXPECT_NE(first().text.find("ConnectReply was sent 2 times"), std::string::npos)
        << first().text;
}

TEST_F(Connecting, a_reply_that_is_sent_twice) {
    ask();
    const std::uint64_t reply = manage(1, CmAttribute::ConnectReply, servers, clients);
    wait(4000 * ms);
    const std::uint64_t again = manage(1, CmAttribute::ConnectReply, servers, clients);
    manage(2, CmAttribute::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_FALSE(last_.has_failed);
    EXPECT_TRUE(shows_frame(reply));
    EXPECT_TRUE(shows_frame(again));
}

TEST_F(Connecting, a_request_that_is_sent_again_after_its_reply) {
    ask();
    manage(1, CmAttribute::ConnectReply, servers, clients);
    wait(4000 * ms);
    ask();
    manage(1, CmAttribute::ConnectReply, servers, clients);
    manage(2, CmAttribute::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "loss likely");
}

TEST_F(Connecting, a_receipt_for_a_reply_that_is_sent_twice) {
    ask();
    manage(1, CmAttribute::ConnectReply, servers, clients);
    wait(4000 * ms);
    manage(1, CmAttribute::ConnectReply, servers, clients);
    manage(2, CmAttribute::MsgRcptAck, clients, servers);
    manage(2, CmAttribute::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "none");
}

// The responder's program ends before the last request, which its kernel rejects.
TEST_F(Connecting, datagrams_to_a_service_whose_response_is_lost) {
    const auto resolve = [this] {
        wait(4000 * ms);
        return manage(2, CmAttribute::ServiceIdResReq, clients, 0);
    };
    resolve();
    const std::uint64_t response = manage(1, CmAttribute::ServiceIdResReqResp, clients, 0);
    const std::uint64_t again = resolve();
    resolve();
    manage(1, CmAttribute::ServiceIdResReqResp, clients, 0x02000000);
    EXPECT_EQ(answered(), "cm-no-answer likely");
    EXPECT_TRUE(shows_frame(response));
    EXPECT_FALSE(shows_frame(again));
}

// Only the requester's log is available.
TEST_F(Connecting, without_any_event) {
    log("client", R"("event":"cm_call","call":"rdma_connect","id":7,"qpn":33)");
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "cm-no-answer likely");
}

TEST_F(Connecting, that_succeeds_has_an_event) {
    log("client", R"("event":"cm_call","call":"rdma_connect","id":7,"qpn":33)");
    log("client", R"("event":"cm_event","type":"ESTABLISHED","status":0,"id":7)");
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
