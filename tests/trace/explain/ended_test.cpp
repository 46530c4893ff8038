// Programs that a signal ended before their peer.
#include "trace/explain/account.hpp"

namespace explain_test {

class EndedProgram : public Account {
  protected:
    void ends_by(std::string_view role, std::string_view how) {
        log(role, R"("event":"process_end","pid":1,)" + std::string(how));
    }
};

TEST_F(EndedProgram, by_abort_and_its_peer_failed_after_it) {
    connect();
    send(100);
    ack(100);
    ends_by("client", R"("signal":6)");
    wait(5000 * ms);
    ends_by("server", R"("exit_status":1)");
    EXPECT_EQ(causes(), R"(
peer-gone certain, fatal
  client
  the program of the client was ended by signal 6 (ABRT), and the server lost its peer.
  client log: process_end process 1 has ended by signal 6
  server log: process_end process 1 has ended with status 1
)");
    EXPECT_NE(first().try_this.find("core dump"), std::string::npos);
}

// The log cannot name SIGKILL: the run's exit status does.
TEST_F(EndedProgram, by_sigkill_and_its_peer_waited_until_it_was_ended) {
    connect();
    send(100);
    ack(100);
    ends_by("server", R"("end":"signal or _exit")");
    ends("server", 137);
    wait(40'000 * ms);
    ends_by("client", R"("signal":15)");
    EXPECT_EQ(answered(), "peer-gone certain");
    EXPECT_NE(first().try_this.find("OOM killer"), std::string::npos);
}

TEST_F(EndedProgram, is_likely_by_the_status_alone) {
    send(100);
    ack(100);
    ends("server", 139);
    ends("client", 1);
    EXPECT_EQ(answered(), "peer-gone likely");
}

TEST_F(EndedProgram, after_its_peer_had_failed_is_no_cause) {
    connect();
    ends_by("server", R"("exit_status":1)");
    wait(1000 * ms);
    ends_by("client", R"("signal":6)");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(EndedProgram, with_a_peer_that_came_to_its_end_is_no_cause) {
    connect();
    ends_by("client", R"("signal":11)");
    wait(1000 * ms);
    ends_by("server", R"("exit_status":0)");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(EndedProgram, by_sigterm_is_no_cause) {
    connect();
    ends_by("client", R"("signal":15)");
    wait(1000 * ms);
    ends_by("server", R"("exit_status":1)");
    EXPECT_EQ(answered(), "unknown");
}

// A program may abort because of what the other rules explain.
TEST_F(EndedProgram, by_abort_after_an_error_is_not_the_first_cause) {
    connect();
    posts_send(100, 8);
    completes("LOC_PROT_ERR");
    ends_by("client", R"("signal":6)");
    wait(1000 * ms);
    ends_by("server", R"("exit_status":1)");
    EXPECT_EQ(answered(), "local-protection certain");
    EXPECT_EQ(last_.causes.size(), 1U);
}

}  // namespace explain_test
