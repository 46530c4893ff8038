// A long capture: the explainer forgets packets, and comes to the same causes.
#include "bench/traffic.hpp"
#include "trace/explain/scene.hpp"

namespace explain_test {

class Forgetting : public Scene {};

TEST_F(Forgetting, of_most_packets_of_traffic_with_losses_changes_no_cause) {
    bench::Traffic traffic(4);
    for (int i = 0; i < 20'000; ++i)
        add(traffic.next().bytes);
    const explain::Explanation all = explainer_.explanation();
    const explain::Explanation few = forgetful_.explanation();
    ASSERT_GE(all.causes.size(), 2U);
    expect_equal(all, few);
}

// The episodes in the middle are only counted.
TEST_F(Forgetting, of_losses_keeps_their_number_and_pattern) {
    connect();
    for (std::uint32_t psn = 100; psn < 5'100; ++psn) {
        if (psn % 50 == 0) {  // it is lost
            send(psn + 1);
            nak(psn, syndrome::psn_error);
        }
        send(psn);
        ack(psn);
    }
    const explain::Explanation made = explained();
    ASSERT_EQ(made.causes.size(), 1U);
    EXPECT_EQ(explain::name(made.causes.front().code), "loss");
}

}  // namespace explain_test
