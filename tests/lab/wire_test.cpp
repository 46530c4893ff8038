// lab/lab wire: the link emulator applies each rule to the selected packets only, its actions are
// in all files of a run, and it is restarted if it ends.
#include <csignal>
#include <regex>

#include <gtest/gtest.h>

#include "support/other_lab.hpp"
#include "support/step_checks.hpp"
#include "support/tshark.hpp"

namespace wire_test {

using support::LabRun;

support::Outcome wire(const support::Argv& words) {
    support::Argv argv{"lab/lab", "wire"};
    argv.insert(argv.end(), words.begin(), words.end());
    return support::run(argv);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Wire : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        ASSERT_EQ(wire({"clear"}).out, "no rules\n");
    }
    void TearDown() override { EXPECT_EQ(wire({"clear"}).exit_code, 0); }
};

// Returns the PSNs of the RoCE packets before or after the rules were applied, according to tshark.
std::vector<std::string> psns_at(const LabRun& run, const std::string& interface,
                                 const std::string& source) {
    const auto out = support::run({"tshark", "-r", run.file("link.pcapng"), "-Y",
                                   "infiniband && frame.interface_name == \"" + interface +
                                       "\" && ip.src == " + source,
                                   "-T", "fields", "-e", "infiniband.bth.psn"})
                         .out;
    std::vector<std::string> psns;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        psns.push_back(line);
    return psns;
}

TEST_F(Wire, drops_the_packet_that_was_chosen_and_all_of_the_run_tells_of_it) {
    const auto added = wire({"drop the 5th packet from client"});
    ASSERT_TRUE(
        std::regex_match(added.out, std::regex("rule [0-9]+: drop the 5th packet from client\n")))
        << added.all();
    const LabRun run = support::capture("20", {}, {"--op", "write"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_TRUE(has(run.outcome.err, "the link emulator has 1 rule: lab/lab wire"))
        << run.outcome.err;

    // Nine packets in order, each twice in the file. The fifth PSN's first copy was dropped.
    auto sent = psns_at(run, "before", support::client_ip);
    const auto arrived = psns_at(run, "after", support::client_ip);
    ASSERT_GT(sent.size(), 9U) << "it was sent again";
    EXPECT_EQ(sent[4], std::to_string(0xc19004));
    sent.erase(sent.begin() + 4);
    EXPECT_EQ(arrived, sent);
    EXPECT_EQ(psns_at(run, "after", support::server_ip),
              psns_at(run, "before", support::server_ip));

    const auto events = support::events_of(run.file("link.jsonl"));
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].name, "drop");
    EXPECT_EQ(events[0].number("psn"), 0xc19004U);
    EXPECT_EQ(events[0].text("from"), "client");
    EXPECT_EQ(events[0].text("to"), "server");
    const auto frame =
        support::run({"tshark", "-r", run.file("link.pcapng"), "-Y", "frame.comment", "-T",
                      "fields", "-e", "frame.number", "-e", "infiniband.bth.psn"});
    EXPECT_EQ(frame.out, std::to_string(events[0].number("frame").value()) + "\t" +
                             std::to_string(0xc19004) + "\n")
        << frame.all();

    // The timeline contains the action, and run.json the rule.
    const std::string timeline = run.text_of("timeline.txt");
    const auto at = timeline.find("drop      RC RDMA WRITE Middle PSN 0xc19004");
    ASSERT_NE(at, std::string::npos) << timeline;
    EXPECT_EQ(run.info["link"]["rules"], nlohmann::json{"drop the 5th packet from client"});
    const auto* check = LabRun::find(run.client, "check");
    ASSERT_NE(check, nullptr);
    EXPECT_EQ(check->text("verdict"), "good");
}

TEST_F(Wire, counts_anew_in_each_run) {
    ASSERT_EQ(
        wire({"drop the 5th packet from client", "mark the 1st packet from server"}).exit_code, 0);
    for (int time = 0; time < 2; ++time) {
        const auto run = support::run({"lab/lab", "run", "20", "--", "--op", "write"}, {},
                                      std::chrono::minutes(2));
        ASSERT_EQ(run.exit_code, 0) << run.all();
        const auto status = wire({});
        EXPECT_TRUE(std::regex_search(status.out, std::regex(" [0-9]+ +1  drop the 5th packet")))
            << status.out;
        EXPECT_TRUE(std::regex_search(status.out, std::regex(" [0-9]+ +1  mark the 1st packet")))
            << status.out;
    }
}

TEST_F(Wire, points_at_what_is_no_rule_and_keeps_none_of_them) {
    const auto bad = wire({"drop packets", "drop the 2rd packet"});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_EQ(bad.err,
              "rocewire: '2rd' is not a valid packet number: 1st, 2nd, 3rd, 4th, ... (column 10).\n"
              "  drop the 2rd packet\n"
              "           ^~~\n");
    EXPECT_TRUE(has(wire({}).out, "no rules"));
    EXPECT_TRUE(has(wire({"remove", "9999"}).err, "there is no rule 9999"));
    EXPECT_EQ(wire({"-f", "/nowhere"}).exit_code, 1);
}

TEST_F(Wire, starts_its_program_again_where_that_has_ended) {
    std::smatch found;
    const auto status = support::run({"lab/lab", "status"});
    ASSERT_TRUE(std::regex_search(status.out, found, std::regex("rocewire pid ([0-9]+)")))
        << status.all();
    const pid_t pid = std::stoi(found[1]);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    // Any command starts it again.
    const auto next = support::exec("client", {"true"});
    EXPECT_EQ(next.exit_code, 0);
    EXPECT_TRUE(has(next.err, "the link emulator had ended: starting it again, without rules"))
        << next.err;
    EXPECT_TRUE(has(wire({}).out, "no rules"));
    const auto run =
        support::run({"lab/lab", "run", "20", "--", "--op", "send"}, {}, std::chrono::minutes(2));
    EXPECT_EQ(run.exit_code, 0) << run.all();
}

// The same lab without the link emulator.
TEST_F(Wire, is_not_in_a_lab_with_a_direct_link) {
    support::OtherLab lab("build/direct-lab", {"LAB_LINK=direct", "LAB_MEMORY=512"});
    const auto up = lab.run({"lab/lab", "up"}, {}, std::chrono::minutes(3));
    ASSERT_EQ(up.exit_code, 0) << up.all();
    EXPECT_TRUE(has(lab.run({"lab/lab", "status"}).out, "link: direct, MTU"));
    const auto refused = lab.run({"lab/lab", "wire", "drop packets"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(has(refused.err, "LAB_LINK=wire lab/lab up")) << refused.err;
    const auto run =
        lab.run({"lab/lab", "run", "20", "--", "--op", "send"}, {}, std::chrono::minutes(2));
    EXPECT_EQ(run.exit_code, 0) << run.all();
}

}  // namespace wire_test
