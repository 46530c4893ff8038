// Lesson 16 while the client's machine loses packets: which programs are notified, and which messages
// are missing.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/lossy_host.hpp"
#include "support/step_checks.hpp"

namespace lesson16_loss_test {

using support::LabRun;
using support::rows;

constexpr std::uint64_t messages = 60;

class Lesson16Loss : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    // The server's capture contains only the packets that arrived.
    static LabRun lossy_run(const std::string& transport) {
        const support::LossyHost client("client", "15%");
        LabRun run =
            support::capture("16", {"CAPTURE_SECONDS=170"},
                             {"--transport", transport, "--messages", std::to_string(messages),
                              "--messages-only", "--timeout", "150"});
        EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        return run;
    }

    static std::set<std::uint64_t> missing(const LabRun& run) {
        std::istringstream words{std::string(LabRun::find(run.server, "arrived")->text("missing"))};
        std::set<std::uint64_t> numbers;
        for (std::uint64_t number = 0; words >> number;)
            numbers.insert(number);
        return numbers;
    }

    static std::set<std::uint32_t> captured_psns(const LabRun& run) {
        std::set<std::uint32_t> psns;
        for (const auto& row : rows(run, "bth.psn", "ip.dst == " + support::server_ip))
            psns.insert(static_cast<std::uint32_t>(std::stoul(row.at(0))));
        return psns;
    }

    // Returns the numbers of the messages that were not captured completely.
    static std::set<std::uint64_t> incomplete(const LabRun& run) {
        const auto psns = captured_psns(run);
        std::set<std::uint64_t> numbers;
        for (const auto& post : LabRun::all(run.client, "post_send"))
            for (const std::uint32_t psn : support::psns_of(post))
                if (!psns.contains(psn))
                    numbers.insert(post.number("wr_id").value());
        return numbers;
    }

    static void expect_success_for_all(const LabRun& run) {
        EXPECT_EQ(LabRun::find(run.client, "transport")->number("successes"), messages);
        EXPECT_EQ(support::statuses(run.client), std::vector<std::string>(messages, "SUCCESS"));
    }
};

TEST_F(Lesson16Loss, rc_delivers_all) {
    const LabRun run = lossy_run("rc");
    expect_success_for_all(run);
    const auto* told = LabRun::find(run.client, "transport");
    EXPECT_EQ(told->number("arrived"), messages);
    EXPECT_TRUE(missing(run).empty());
    EXPECT_TRUE(incomplete(run).empty());
    EXPECT_GT(told->number("packets_out").value(), 2 * messages) << "some were sent again";
}

TEST_F(Lesson16Loss, ud_reports_success_for_what_never_arrived) {
    const LabRun run = lossy_run("ud");
    expect_success_for_all(run);
    const auto* told = LabRun::find(run.client, "transport");
    EXPECT_LT(told->number("arrived").value(), messages);
    EXPECT_EQ(told->number("arrived").value() + missing(run).size(), messages);
    EXPECT_EQ(missing(run), incomplete(run)) << "exactly what did not come through";
    EXPECT_EQ(told->number("packets_out"), messages) << "nothing is sent again";
    EXPECT_EQ(rows(run, "bth.psn", "ip.dst == " + support::client_ip).size(), 0U);
}

TEST_F(Lesson16Loss, uc_drops_a_message_that_lacks_one_packet) {
    const LabRun run = lossy_run("uc");
    expect_success_for_all(run);
    const auto* told = LabRun::find(run.client, "transport");
    EXPECT_LT(told->number("arrived").value(), messages);
    EXPECT_EQ(told->number("arrived").value() + missing(run).size(), messages);
    EXPECT_EQ(told->number("packets_out"), 2 * messages) << "nothing is sent again";
    // All incomplete messages are missing, and with this device also some complete ones.
    const auto lost = missing(run);
    const auto cut = incomplete(run);
    EXPECT_TRUE(std::ranges::includes(lost, cut));
    EXPECT_GT(captured_psns(run).size(), 2 * told->number("arrived").value())
        << "packets that came for nothing";
    EXPECT_EQ(rows(run, "bth.psn", "ip.dst == " + support::client_ip).size(), 0U);
}

}  // namespace lesson16_loss_test
