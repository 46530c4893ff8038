// Logs whose clocks do not agree with the capture's.
#include "trace/explain/account.hpp"

namespace explain_test {

class Clocks : public Account {
  protected:
    static constexpr std::int64_t hour = 3'600'000 * ms;

    // By how much the clock of one host is ahead of the capture's.
    void connect_with(std::int64_t servers, std::int64_t clients) {
        const auto on = [&](std::string_view role, const Pair& pair, std::int64_t ahead) {
            wait(ahead);
            make(role, pair);
            ready(role, pair);
            wait(-ahead);
        };
        on("server", server(), servers);
        on("client", client(), clients);
    }
    void ask_once() {
        send(100);
        ack(100);
    }
    void destroyed(std::int64_t ahead) {
        wait(ahead);
        log("server", R"("event":"destroyed","what":"qp","qpn":17)");
        wait(-ahead);
    }
    std::string offsets() {
        std::string all;
        for (const explain::ClockOffset& one : explained().clocks)
            all +=
                fmt::format("{} {:+.0f} s\n", one.role, static_cast<double>(one.offset_ns) / 1e9);
        return all;
    }
};

TEST_F(Clocks, that_agree_are_not_told) {
    connect_with(20 * ms, -20 * ms);
    destroyed(0);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "");
}

TEST_F(Clocks, with_a_usual_error_are_not_told) {
    connect_with(200 * ms, 0);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "");
}

TEST_F(Clocks, of_a_responder_that_is_ahead) {
    connect_with(hour, 0);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "server -3600 s\n");
}

// A response to an earlier connection of the same number.
TEST_F(Clocks, do_not_follow_from_what_came_before_the_first_request) {
    make("server", server());
    make("client", client());
    ready("client", client());
    ack(99);
    send(100);
    wait(300 * ms);
    ready("server", server());
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "peer-not-ready certain");
    EXPECT_EQ(offsets(), "");
}

TEST_F(Clocks, of_a_responder_that_is_behind) {
    connect_with(-hour, 0);
    destroyed(-hour);
    wait(1 * ms);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "server +3600 s\n");
}

TEST_F(Clocks, of_a_requester_whose_request_takes_long) {
    connect_with(0, -hour);
    wait(-hour);
    posts_send(100, 8);
    wait(10 * ms);
    completes("SUCCESS");
    wait(hour - 5 * ms);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "client +3600 s\n");
}

// No packet bounds the responder's clock. The requester's log shows that it did not wait.
TEST_F(Clocks, of_a_responder_whose_responses_are_not_captured) {
    connect_with(hour, 0);
    posts_send(100, 8);
    send(100);
    wait(1 * ms);
    completes("SUCCESS");
    explained();
    EXPECT_EQ(answered(), "one-sided-capture certain");
    EXPECT_EQ(last_.causes.size(), 1U);
    EXPECT_EQ(offsets(), "");
}

// The capture's clock was set between two requests, as that of a machine that was suspended.
TEST_F(Clocks, that_are_set_lose_no_request) {
    connect();
    for (std::uint32_t i = 0; i < 2; ++i) {
        log("client",
            R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":8,"psn_first":)" +
                fmt::format(R"({0},"psn_last":{0})", 100 + i));
        log("client", R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":)" +
                          fmt::format(R"({},"status":"SUCCESS")", i));
    }
    send(100);
    ack(100);
    wait(hour);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "");
}

// Nothing can be said of clocks that jump. But who responds is ready.
TEST_F(Clocks, that_contradict_each_other_do_not_make_a_peer_late) {
    connect_with(hour, 0);
    destroyed(-hour);
    ask_once();
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(offsets(), "");
}

// A forged packet has the PSN of a request that is posted later.
TEST_F(Clocks, that_packets_contradict_are_left_alone) {
    connect();
    send(101);
    wait(1000 * ms);
    posts_send(100, 8);
    log("client", R"("event":"post_send","qpn":33,"wr_id":2,"opcode":"SEND","len":8,)"
                  R"("psn_first":101,"psn_last":101)");
    completes("SUCCESS");
    send(100);
    send(101);
    ack(101);
    EXPECT_EQ(offsets(), "");
}

// The reader looks for the time in the log.
TEST_F(Clocks, of_the_evidence_are_those_of_the_logs) {
    connect_with(0, hour);
    wait(hour);
    const std::int64_t posted = now_ + 1000;
    posts_write(100, 0x1000, 0x77, 8);
    wait(1 * ms - hour);
    write(100, 0x1000, 0x77, 8);
    nak(100, syndrome::access_error);
    wait(1 * ms + hour);
    completes("REM_ACCESS_ERR");
    EXPECT_EQ(answered(), "wrong-rkey certain");
    EXPECT_TRUE(std::ranges::any_of(first().evidence, [&](const explain::Evidence& one) {
        return one.role == "client" && one.t_ns == posted;
    }));
    EXPECT_EQ(offsets(), "client -3600 s\n");
}

}  // namespace explain_test
