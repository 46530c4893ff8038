// Lesson 21 in the lab: at a bottleneck, too many packets in flight are retransmitted many times, a
// fitting window avoids this, and an adaptive one finds the right size. ECN marks are on the wire,
// and no end reacts to them.
#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "support/tshark.hpp"

namespace lesson21_test {

using support::LabRun;

class Lesson21 : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        clear();
    }
    void TearDown() override { clear(); }

    static void clear() { EXPECT_EQ(support::run({"lab/lab", "wire", "clear"}).exit_code, 0); }
    static void rule(const std::string& text) {
        const auto added = support::run({"lab/lab", "wire", text});
        EXPECT_EQ(added.exit_code, 0) << added.all();
    }
};

std::uint64_t sent_with(const LabRun& run, const std::string& window) {
    for (const auto& event : LabRun::all(run.client, "bottleneck"))
        if (event.text("window") == window)
            return event.number("sent").value();
    ADD_FAILURE() << "no transfer with window " << window << ": " << run.outcome.all();
    return 0;
}

TEST_F(Lesson21, an_empty_way_needs_each_packet_once) {
    const LabRun run = support::capture("21", {}, {"--windows", "1,16", "--size", "64KiB"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_whole(run);
    support::expect_every_packet_joined(run);
    // A timer may expire while a guest is not scheduled, but no packet is lost.
    for (const auto& event : LabRun::all(run.client, "bottleneck"))
        EXPECT_EQ(event.number("naks"), 0U);
    for (const auto& row :
         support::rows(run, "ip.ecn", "ip.src == " + support::client_ip + " and bth"))
        EXPECT_EQ(row.at(0), "2") << "ECT(0)";
}

TEST_F(Lesson21, a_bottleneck_punishes_who_has_too_much_under_way) {
    rule("limit to 4Mbit/s queue 16 packets from client");
    const auto outcome = support::run(
        {"lab/lab", "run", "21", "--", "--windows", "2,64,adaptive", "--size", "128KiB"}, {},
        std::chrono::minutes(3));
    const LabRun run = support::read_run(outcome);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto little = sent_with(run, "2");
    const auto much = sent_with(run, "64");
    const auto adaptive = sent_with(run, "adaptive");
    EXPECT_GE(little, 128U);
    EXPECT_GT(much, 2 * 128U) << "go-back-N sends again what had arrived";
    EXPECT_LT(adaptive, much);
}

TEST_F(Lesson21, marks_arrive_and_nobody_minds_them) {
    rule("mark every 2nd packet from client");
    const LabRun run = support::capture("21", {}, {"--windows", "4", "--size", "32KiB"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_whole(run);
    std::set<std::string> seen;
    for (const auto& row :
         support::rows(run, "ip.ecn", "ip.src == " + support::client_ip + " and bth"))
        seen.insert(row.at(0));
    EXPECT_EQ(seen, (std::set<std::string>{"2", "3"}));
    // According to tshark, no CNP was sent, and the marked packets are decoded as RoCE.
    const auto cnps =
        support::run({"tshark", "-r", run.file("wire.pcapng"), "-Y",
                      "infiniband.bth.opcode == 0x81", "-T", "fields", "-e", "frame.number"});
    EXPECT_EQ(cnps.out, "");
    const auto marked =
        support::run({"tshark", "-r", run.file("wire.pcapng"), "-Y",
                      "ip.dsfield.ecn == 3 && infiniband", "-T", "fields", "-e", "frame.number"});
    EXPECT_NE(marked.out, "");
}

}  // namespace lesson21_test
