// Which actions of the link emulator are the reason of which cause.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "trace/explain/link_record_fixture.hpp"

namespace explain_test {

class LinkRecordOf;

// A cause, and what a rule did if it is the reason.
struct Confirmed {
    const char* code;
    void (*make)(LinkRecordOf&);
    bool to_responses;
    std::vector<std::string_view> reasons;
};

class LinkRecordOf : public LinkRecord,
                     public testing::WithParamInterface<std::tuple<Confirmed, const char*>> {
  public:
    void deliver(std::initializer_list<std::uint32_t> psns) {
        for (const std::uint32_t psn : psns)
            send(psn);
    }
    void overtake() {
        connect();
        deliver({100, 102});
        nak(101, syndrome::psn_error);
        deliver({101, 101, 102});
        ack(102);
    }
    void lose() {
        connect();
        send(100);
        ack(100);
        send(103);
        nak(101, syndrome::psn_error);
        deliver({101, 102, 103});
        ack(103);
    }
    void repeat_all() {
        connect();
        for (std::uint32_t psn = 100; psn < 102; ++psn) {
            deliver({psn, psn});
            ack(psn);
            ack(psn);
        }
    }
    void lose_all() {
        capture_at_server();
        connect();
        send(100);
        ack(100);
        posts_send(101, 8);
        completes("RETRY_EXC_ERR");
    }
    void lose_large() {
        capture_at_server();
        connect();
        send(100, 64);
        ack(100);
        posts_send(101, 1000);
        completes("RETRY_EXC_ERR");
    }
    void damage() {
        connect();
        send(100);
        ack(100);
        broken_send(101);
        wait(67 * ms);
        send(101);
        ack(101);
    }
    void hurry() {
        for (explain::Explainer* one : {&explainer_, &forgetful_})
            one->captured_at(*flow::host_of_gid(gid(2)));
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), 10);
        for (std::uint32_t psn = 100; psn < 103; ++psn) {
            send(psn);
            wait(5 * ms);
            send(psn);
            wait(55 * ms);
            ack(psn);
            ack(psn);
        }
    }
    void never_hear() { gives_up_over_responses(); }
};

TEST_P(LinkRecordOf, which_shows_the_reason_is_certain) {
    const auto& [cause, what] = GetParam();
    cause.make(*this);
    const std::string before = answered();
    ASSERT_TRUE(before.starts_with(cause.code)) << before;
    if (cause.to_responses)
        acts(what, "server", "client", 0x21);
    else
        acts(what, "client", "server", 0x11);
    const bool is_reason = std::ranges::find(cause.reasons, what) != cause.reasons.end();
    EXPECT_EQ(answered(), is_reason ? cause.code + std::string(" certain") : before);
    EXPECT_EQ(first().text.find("Rule 3 of the link emulator") != std::string::npos, is_reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, LinkRecordOf,
    testing::Combine(
        testing::Values(
            Confirmed{"loss",
                      [](LinkRecordOf& one) { one.lose(); },
                      false,
                      {"drop", "cut", "limit", "corrupt", "set"}},
            Confirmed{"path-broken",
                      [](LinkRecordOf& one) { one.lose_all(); },
                      false,
                      {"drop", "cut", "limit"}},
            Confirmed{"large-packets-lost",
                      [](LinkRecordOf& one) { one.lose_large(); },
                      false,
                      {"drop", "cut", "limit"}},
            Confirmed{"acks-lost",
                      [](LinkRecordOf& one) { one.never_hear(); },
                      true,
                      {"drop", "cut", "limit", "delay", "queued"}},
            Confirmed{"acks-lost", [](LinkRecordOf& one) { one.never_hear(); }, false, {}},
            Confirmed{
                "corruption", [](LinkRecordOf& one) { one.damage(); }, false, {"corrupt", "set"}},
            Confirmed{"reordering",
                      [](LinkRecordOf& one) { one.overtake(); },
                      false,
                      {"reorder", "delay"}},
            Confirmed{"needless-retransmissions",
                      [](LinkRecordOf& one) { one.repeat_all(); },
                      false,
                      {"duplicate", "delay", "queued"}},
            Confirmed{"timeout-too-short",
                      [](LinkRecordOf& one) { one.hurry(); },
                      true,
                      {"delay", "limit", "queued"}}),
        testing::Values("drop", "cut", "limit", "queued", "corrupt", "set", "delay", "reorder",
                        "duplicate", "mark")));

// {what a rule did, the cause of a failure without another one, of retransmissions without one}
class LinkRecordAlone
    : public LinkRecord,
      public testing::WithParamInterface<std::tuple<const char*, const char*, const char*>> {};

TEST_P(LinkRecordAlone, explains_what_nothing_else_explains) {
    connect();
    send(100);
    wait(1 * ms);
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "none");
    acts(std::get<0>(GetParam()), "client", "server", 0x11);
    EXPECT_EQ(answered(), std::get<2>(GetParam()));
    posts_send(101, 8);
    completes("GENERAL_ERR");
    EXPECT_EQ(answered(), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, LinkRecordAlone,
                         testing::Values(std::tuple("drop", "loss likely", "loss likely"),
                                         std::tuple("cut", "loss likely", "loss likely"),
                                         std::tuple("limit", "loss likely", "loss likely"),
                                         std::tuple("corrupt", "corruption likely", "none"),
                                         std::tuple("set", "corruption likely", "none"),
                                         std::tuple("delay", "unknown", "none"),
                                         std::tuple("reorder", "unknown", "none")));

// Without retries, or without a timer, nothing is sent again.
TEST_F(LinkRecord, has_a_request_that_was_never_sent_again) {
    connect();
    send(100);
    ack(100);
    acts("drop", "client", "server", 0x11);
    EXPECT_EQ(answered(), "none");
    acts("drop", "client", "server", 0x11, "", 101);
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  client → server, QP 0x000011
  PSN 0x000065 was lost, and not sent again until the end of the capture. Rule 3 of the link emulator, `drop some packets`, did it: 2 packets were dropped.
  link log: drop      RC SEND Only PSN 0x000064 to QP 0x000011 of the client, by rule 3
)");
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "none");
}

// A rule may have changed the queue pair that the packets are for.
TEST_F(LinkRecord, of_packets_to_a_queue_pair_that_is_not_in_the_capture) {
    connect();
    repeat(100);
    ASSERT_EQ(answered(), "unknown");
    acts("mark", "client", "server", 0x99);
    EXPECT_EQ(answered(), "unknown");
    acts("set", "client", "server", 0x99);
    EXPECT_EQ(answered(), "corruption likely");
    EXPECT_EQ(first().where, "client → server, QP 0x000099");
}

}  // namespace explain_test
