// Collectives: who was late, and which step a loss or a failure belongs to.
#include "trace/explain/account.hpp"

namespace explain_test {

class Collectives : public Account {
  protected:
    void begins(std::string_view role, int step) {
        log(role, fmt::format(R"("event":"collective","iteration":{})", step));
    }
    void ends(std::string_view role, int step) {
        log(role, fmt::format(R"("event":"collective_end","iteration":{})", step));
    }
    // Both ranks; the client comes `late_ns` later.
    void goes_through(int step, std::int64_t late_ns, std::int64_t long_ns) {
        begins("server", step);
        wait(late_ns);
        begins("client", step);
        wait(long_ns);
        ends("server", step);
        ends("client", step);
    }
};

TEST_F(Collectives, wait_for_a_rank_that_is_late) {
    goes_through(1, 0, 30 * ms);
    goes_through(2, 200 * ms, 30 * ms);
    goes_through(3, 0, 30 * ms);
    EXPECT_EQ(answered(), "late-rank likely");
    EXPECT_FALSE(first().is_fatal);
    EXPECT_NE(first().text.find("the client came late to 1 of 3 collectives, to that of step 2 by "
                                "about 200"),
              std::string::npos)
        << first().text;
    EXPECT_NE(first().text.find("the server waited for it"), std::string::npos) << first().text;
    EXPECT_EQ(first().evidence.size(), 2U);
}

// {milliseconds late, milliseconds of the collective itself, answer}
class LateRank : public Collectives,
                 public testing::WithParamInterface<std::tuple<int, int, const char*>> {};

TEST_P(LateRank, is_late_by_a_tenth_of_a_second_and_half_of_the_time) {
    const auto& [late, took, expected] = GetParam();
    goes_through(1, 0, took * ms);
    goes_through(2, late * ms, took * ms);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, LateRank,
                         testing::Values(std::tuple(150, 10, "late-rank likely"),
                                         std::tuple(90, 10, "none"), std::tuple(150, 200, "none"),
                                         std::tuple(0, 500, "none")));

TEST_F(Collectives, of_the_first_step_wait_for_connections) {
    goes_through(1, 500 * ms, 30 * ms);
    goes_through(2, 0, 30 * ms);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Collectives, of_one_rank_tell_nothing) {
    begins("client", 1);
    ends("client", 1);
    begins("client", 2);
    wait(900 * ms);
    ends("client", 2);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Collectives, that_take_long_name_the_step_of_a_loss) {
    connect();
    goes_through(1, 0, 30 * ms);
    begins("server", 2);
    begins("client", 2);
    posts_send(100, 8);
    send(100);
    wait(120 * ms);
    ack(100);
    send(103);
    nak(101, syndrome::psn_error);
    for (std::uint32_t psn = 101; psn < 104; ++psn)
        send(psn);
    ack(103);
    ends("server", 2);
    ends("client", 2);
    goes_through(3, 0, 30 * ms);
    answered();
    EXPECT_NE(first().text.find("The collective of step 2 took 12"), std::string::npos) << causes();
    EXPECT_NE(first().text.find("most take 30"), std::string::npos) << first().text;
}

TEST_F(Collectives, that_do_not_end_are_named_in_a_failure) {
    connect();
    goes_through(1, 0, 30 * ms);
    begins("client", 2);
    posts_send(100, 8);
    for (int copy = 0; copy < 3; ++copy) {
        send(100);
        ack(100);
        wait(67 * ms);
    }
    completes("RETRY_EXC_ERR");
    ASSERT_EQ(answered(), "acks-lost likely");
    EXPECT_NE(first().text.find("the client did not finish the collective of step 2."),
              std::string::npos)
        << first().text;
}

}  // namespace explain_test
