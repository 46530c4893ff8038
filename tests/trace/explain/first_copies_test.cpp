// Requests that reach the capture only as a retransmission.
#include "trace/explain/account.hpp"

namespace explain_test {

class FirstCopies : public Account {
  protected:
    static constexpr std::int64_t s = 1000 * ms;

    void connect_with(int timeout) {
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), timeout);
    }
    void posts_number(int number) {
        posts("SEND", 8,
              fmt::format(R"(,"request":{},"psn_first":{},"psn_last":{})", number, 100 + number,
                          100 + number));
    }
    void completes_number(int number) {
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},)"
                                  R"("status":"SUCCESS")",
                                  number));
    }
    void arrives(int number) {
        const auto psn = static_cast<std::uint32_t>(100 + number);
        send(psn);
        ack(psn);
    }
    /// A request that is captured so long after it was posted.
    void waits(int number, std::int64_t ns) {
        posts_number(number);
        wait(ns);
        arrives(number);
        completes_number(number);
    }
};

TEST_F(FirstCopies, that_were_lost_before_the_capture) {
    connect_with(18);  // 1.07 s
    waits(0, ms);
    waits(1, s);
    waits(2, ms);
    EXPECT_EQ(causes(), R"(
loss likely, 999000 us
  client → server, QP 0x000011
  a request was lost before the capture, which has only a retransmission: the first packet came 999.00 ms later than usual after the request was posted, and timeout 18 is 1.07 s.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  frame 3: RC SEND Only  PSN 0x000065  8 B
)");
    EXPECT_FALSE(last_.has_failed);
}

// {timeout, nanoseconds, expected}. A timer expires after half of its time or later, and a busy host
// pauses for a while.
class Wait : public FirstCopies,
             public testing::WithParamInterface<std::tuple<int, std::int64_t, const char*>> {};

TEST_P(Wait, of_a_request_shows_whether_its_first_copy_was_lost) {
    const auto& [timeout, ns, expected] = GetParam();
    connect_with(timeout);
    waits(0, 0);
    waits(1, ns);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Wait,
                         testing::Values(std::tuple(14, 500 * ms, "loss likely"),
                                         std::tuple(14, 499 * ms, "none"),
                                         std::tuple(18, 537 * ms, "loss likely"),
                                         std::tuple(18, 536 * ms, "none"),
                                         std::tuple(0, 5000 * ms, "none")));

TEST_F(FirstCopies, of_the_first_request_wait_for_an_address) {
    connect_with(14);
    waits(0, s);
    waits(1, 0);
    EXPECT_EQ(answered(), "none");
}

TEST_F(FirstCopies, of_requests_wait_for_the_requests_before_them) {
    connect_with(14);
    waits(0, 0);
    posts_number(1);
    arrives(1);
    posts_number(2);
    wait(s);
    completes_number(1);
    arrives(2);
    completes_number(2);
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
