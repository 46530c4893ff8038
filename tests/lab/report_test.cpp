// The page that each captured run creates, opened in a browser: a run of lesson 07, whose log hides
// the PSNs.
#include <string>

#include <gtest/gtest.h>

#include "support/browser.hpp"
#include "support/step_checks.hpp"
#include "support/tool.hpp"

namespace report_test {

using support::LabRun;

class ReportOfStep07 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (!support::Browser::path())
            return;
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        run() = support::plain_run("07");
        ASSERT_EQ(run().outcome.exit_code, 0) << run().outcome.all();
    }
    void SetUp() override {
        if (!support::Browser::path())
            GTEST_SKIP() << support::Browser::why_none();
    }

    static LabRun& run() {
        static LabRun shared;
        return shared;
    }
};

TEST_F(ReportOfStep07, is_left_by_the_run_and_named_at_its_end) {
    EXPECT_NE(run().outcome.all().find("/report.html: the run as a page"), std::string::npos)
        << run().outcome.all();
}

TEST_F(ReportOfStep07, shows_all_events_and_packets_and_who_learned_what) {
    support::Browser browser;
    auto page = browser.open(run().file("report.html"));
    page.wait_until("document.documentElement.dataset.ready === 'yes'");
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(page.requests(), std::vector<std::string>{page.url()});
    EXPECT_EQ(page.evaluate("rows.filter(row => !row.isPacket).length"),
              run().server.size() + run().client.size());
    EXPECT_EQ(page.evaluate("rows.filter(row => row.isPacket).length"),
              run().info["capture"]["packets"]);
    EXPECT_EQ(page.evaluate("rows.filter(row => row.isPacket && row.cause === '').length"), 0);

    // Only the client learns the rkey from TLS. Each request then exposes it on the wire.
    const auto* shared = LabRun::find(run().client, "post_send");
    ASSERT_NE(shared, nullptr);
    const auto rkey = shared->number("rkey").value();
    const auto memory = page.evaluate(
        "run.capabilities.find(one => Number(one.rkey) === " + std::to_string(rkey) + ")");
    EXPECT_EQ(memory["owner"], "server");
    ASSERT_EQ(memory["learned"].size(), 2U) << memory;
    EXPECT_EQ(memory["learned"][0]["who"], "client");
    EXPECT_EQ(memory["learned"][0]["how"], "TLS 1.3");
    EXPECT_EQ(memory["learned"][1]["who"], "");
    EXPECT_EQ(memory["learned"][1]["how"], "RETH");

    // The last states of the queue pairs of both sides. Either may have been created first.
    EXPECT_EQ(
        page.evaluate("run.tracks.map(track => [track.role, track.states.at(-1).state]).sort()"),
        nlohmann::json::parse(R"([["client","RTS"],["server","RTS"]])"));
}

}  // namespace report_test
