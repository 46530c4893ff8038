// Lesson 18 in the lab: RoCE in ESP, its protection against forged packets, and decryption with its
// keys.
#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "support/temp_path.hpp"

namespace lesson18_test {

using support::LabRun;

constexpr const char* key_file = "build/guests/esp_sa";

class Lesson18 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// Returns the notes of the table, with runs of spaces replaced by one space.
std::set<std::string> notes(const LabRun& run) {
    std::set<std::string> found;
    for (const runlog::Event& event : LabRun::all(run.client, "note")) {
        std::string text{event.text("text")};
        const auto same = [](char a, char b) { return a == ' ' && b == ' '; };
        text.erase(std::unique(text.begin(), text.end(), same), text.end());
        found.insert(text);
    }
    return found;
}

void expect_every_forgery_dropped(const LabRun& run) {
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto told = notes(run);
    for (const char* line :
         {"on the interface: ESP", "plain RoCE WRITE, every field right same XfrmInTmplMismatch",
          "the recorded ESP packet, once more same XfrmInStateSeqError",
          "the same with a later sequence number same XfrmInStateProtoError",
          "the same with another SPI same XfrmInNoStates"})
        EXPECT_TRUE(told.contains(line)) << line << "\n" << run.text_of("client.log");
    // Of the connection, the capture shows only the forged WRITE, which gets no response.
    EXPECT_EQ(support::rows(run, "bth.opcode", "reth or aeth").size(), 1U);
}

// Returns the opcodes that tshark decodes in the packets that left the link emulator.
std::vector<std::string> dissected(const LabRun& run, const std::string& filter,
                                   const std::string& config) {
    const auto outcome = support::run(
        {"tshark", "-r", run.file("link.pcapng"), "-o", "esp.enable_encryption_decode:TRUE", "-Y",
         filter + " and frame.interface_name == \"after\"", "-T", "fields", "-e",
         "infiniband.bth.opcode"},
        {"XDG_CONFIG_HOME=" + config});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    std::vector<std::string> lines;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

TEST_F(Lesson18, forged_packets_are_dropped_and_counted) {
    expect_every_forgery_dropped(support::plain_run("18"));
}

TEST_F(Lesson18, forged_packets_are_dropped_and_counted_with_ipv6) {
    expect_every_forgery_dropped(support::capture("18", {"LAB_FAMILY=ipv6"}));
}

TEST_F(Lesson18, without_esp_the_forgery_changes_memory) {
    const LabRun run = support::capture("18", {}, {"--no-esp"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto told = notes(run);
    EXPECT_TRUE(told.contains("on the interface: plain RoCE"));
    EXPECT_TRUE(told.contains("plain RoCE WRITE, every field right CHANGED let it pass"))
        << run.text_of("client.log");
}

TEST_F(Lesson18, wireshark_reads_the_packets_with_the_keys_and_not_without) {
    std::filesystem::remove(key_file);
    const LabRun run = support::capture("18", {}, {"--esp-sa", key_file});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const support::TempPath with("with_keys");
    const support::TempPath without("without_keys");
    std::filesystem::create_directories(with.path() / "wireshark");
    std::filesystem::copy_file(key_file, with.path() / "wireshark/esp_sa");
    std::filesystem::remove(key_file);

    // Five WRITEs with their ACKs, possible retransmissions on a busy host, and three forged
    // packets.
    const auto closed = dissected(run, "esp", without.str());
    EXPECT_GE(closed.size(), 13U);
    EXPECT_EQ(dissected(run, "esp and infiniband", without.str()).size(), 0U);
    // All except the packet with another SPI: Wireshark decrypts without checking the tag.
    const auto opened = dissected(run, "esp and infiniband", with.str());
    EXPECT_EQ(opened.size(), closed.size() - 1);
    EXPECT_GE(std::ranges::count(opened, "10"), 7) << "RC RDMA WRITE Only";
    EXPECT_GE(std::ranges::count(opened, "17"), 5) << "RC Acknowledge";
}

TEST_F(Lesson18, leaves_no_policy_and_no_state) {
    ASSERT_EQ(support::plain_run("18").outcome.exit_code, 0);
    for (const char* host : {"server", "client"})
        for (const char* what : {"policy", "state"})
            EXPECT_EQ(support::exec(host, {"ip", "xfrm", what}).out, "") << host << " " << what;
}

}  // namespace lesson18_test
