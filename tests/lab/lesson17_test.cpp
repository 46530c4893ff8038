// Lesson 17 in the lab: the PSN announced by rdma_cm, and connections that start with another PSN.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/step_checks.hpp"

namespace lesson17_test {

using support::LabRun;
using support::rows;

class Lesson17 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// Returns the PSNs of the ConnectReplies. The server expects these PSNs in the client's first
// packets.
std::vector<std::uint32_t> announced_psns(const LabRun& run) {
    const auto outcome =
        support::run({"tshark", "-n", "-r", run.file("wire.pcapng"), "-Y", "infiniband.cm.rep",
                      "-T", "fields", "-e", "infiniband.cm.rep.startpsn"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::uint32_t> psns;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        psns.push_back(static_cast<std::uint32_t>(std::stoul(line, nullptr, 0)));
    return psns;
}

std::uint32_t distance(std::uint32_t from, std::uint32_t to) {
    return (to - from) & 0xffffffU;
}

TEST_F(Lesson17, only_packets_from_the_announced_psn_on_are_executed) {
    const LabRun& run = support::plain_run("17");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    const auto announced = announced_psns(run);
    const auto sent = LabRun::all(run.client, "psn");
    const auto posts = LabRun::all(run.client, "post_send");
    const auto memory = LabRun::all(run.server, "memory");
    const auto completions = LabRun::all(run.client, "wc");
    ASSERT_EQ(announced.size(), 3U);
    ASSERT_EQ(sent.size(), 3U);
    ASSERT_EQ(posts.size(), 3U);
    ASSERT_EQ(memory.size(), 3U);
    ASSERT_EQ(completions.size(), 3U);
    const std::uint32_t distances[] = {0, 16, 0xfffff0};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto psn = static_cast<std::uint32_t>(posts[i].number("psn_first").value());
        EXPECT_EQ(distance(announced[i], psn), distances[i]);
        EXPECT_EQ(sent[i].number("psn"), psn);
        EXPECT_EQ(memory[i].number("used"), i == 0 ? 1000U : 0U);
    }
    EXPECT_EQ(completions[0].text("status"), "SUCCESS");
    EXPECT_EQ(completions[1].text("status"), "RETRY_EXC_ERR");
    // A duplicate is acknowledged and not executed. Whether the client accepts rxe's ACK as its own
    // depends on its random PSN.
    EXPECT_TRUE(completions[2].text("status") == "SUCCESS" ||
                completions[2].text("status") == "RETRY_EXC_ERR");
    EXPECT_EQ(rows(run, "frame", "aeth.syndrome == 0x60").size(), 1U) << "NAK: PSN sequence error";
}

// The server's device waits for the announced PSN, as its counters show.
TEST_F(Lesson17, the_check_finds_what_the_device_counts) {
    const LabRun& run = support::plain_run("17");
    const auto outcome = support::run({"build/rocecap", "check", "--json", run.dir});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    const auto checked = nlohmann::json::parse(outcome.out);
    std::set<std::string> codes;
    for (const auto& one : checked.at("deviations"))
        codes.insert(one.at("code"));
    // The PSN of the client decides on which side of it rxe's 0xffffff is.
    EXPECT_TRUE(codes == (std::set<std::string>{"ack-psn", "first-psn", "psn-skipped"}) ||
                codes == (std::set<std::string>{"ack-beyond", "first-psn", "psn-skipped"}))
        << outcome.out;
    for (const auto& counter : checked.at("counters"))
        EXPECT_TRUE(counter.at("equal")) << counter;
    EXPECT_FALSE(checked.at("counters").empty());
}

}  // namespace lesson17_test
