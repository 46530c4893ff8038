// Captures with tshark -i on interfaces of the extcap program while lesson 01 runs.
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"
#include "wireshark/installed_extcap.hpp"

namespace extcap_test {

using namespace std::chrono_literals;

class ExtcapCapture : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        std::filesystem::create_directories(runs_.str());
        if (const auto why = installed_.problem())
            GTEST_SKIP() << *why;
    }

    // Starts tshark, and waits until the host captures.
    std::unique_ptr<support::Process> start(const std::string& interface, int packets,
                                            const std::string& host, const std::string& program,
                                            const support::Argv& options = {},
                                            support::Argv environment = {}) const {
        support::Argv argv =
            installed_.tshark({"-n", "-l", "-i", interface, "-c", std::to_string(packets), "-T",
                               "fields", "-e", "infiniband.bth.psn", "-e", "frame.comment"});
        argv.insert(argv.end(), options.begin(), options.end());
        const auto more = installed_.environment();
        environment.insert(environment.end(), more.begin(), more.end());
        environment.push_back("LAB_RUNS=" + runs_.str());
        auto tshark = std::make_unique<support::Process>(argv, environment);
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!is_running(host, program) && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(100ms);
        EXPECT_TRUE(is_running(host, program));
        return tshark;
    }
    static bool is_running(const std::string& host, const std::string& program) {
        return support::exec(host, {"pgrep", "-x", program}).exit_code == 0;
    }
    // The programs end after tshark.
    static void expect_ended(const std::string& host, const std::string& program) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (is_running(host, program) && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(100ms);
        EXPECT_FALSE(is_running(host, program));
        const std::string own = "[a]nnotate --follow - --runs";
        while (support::run({"pgrep", "-f", own}).exit_code == 0 &&
               std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(100ms);
        EXPECT_NE(support::run({"pgrep", "-f", own}).exit_code, 0);
    }
    // PSN and comment of each packet of the run's annotated capture.
    static std::multiset<std::string> packets_of(const std::string& text) {
        std::multiset<std::string> lines;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);)
            lines.insert(line);
        return lines;
    }
    static std::multiset<std::string> annotated(const support::LabRun& run) {
        return packets_of(
            support::run({"tshark", "-n", "-r", run.file("annotated.pcapng"), "-T", "fields", "-e",
                          "infiniband.bth.psn", "-e", "frame.comment"})
                .out);
    }
    // In a folder of its own: a run that another lab begins meanwhile would be the newest.
    support::LabRun lesson() const { return support::capture("01", {"LAB_RUNS=" + runs_.str()}); }
    static constexpr int packets_of_lesson = 13;

    support::TempPath runs_{"runs"};
    wireshark_test::InstalledExtcap installed_;
};

TEST_F(ExtcapCapture, has_the_packets_and_comments_of_the_annotated_run) {
    for (const std::string host : {"server", "client"}) {
        const auto tshark = start("rdma-" + host, packets_of_lesson, host, "rocecap");
        const auto run = lesson();
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        const auto outcome = tshark->wait(30s);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_EQ(packets_of(outcome.out), annotated(run)) << outcome.all();
        EXPECT_NE(outcome.out.find("client wr 1 RDMA_WRITE 10000 B, PSN 1 of 3"), std::string::npos)
            << outcome.all();
        expect_ended(host, "rocecap");
    }
}

// tcpdump, because the guest has no rocecap on its PATH.
TEST_F(ExtcapCapture, of_any_host_by_ssh_does_without_rocecap_there) {
    const auto status = support::run({"lab/lab", "status"}).out;
    const auto at = status.find("ssh -F ");
    ASSERT_NE(at, std::string::npos) << status;
    const std::string config = status.substr(at + 7, status.find(' ', at + 7) - at - 7);
    const auto tshark =
        start("rdma-ssh", packets_of_lesson, "server", "tcpdump",
              {"-o", "extcap.rdma_ssh.host:server", "-o", "extcap.rdma_ssh.logs:" + runs_.str()},
              {"LAB_SSH_OPTIONS=-F " + config});
    const auto run = lesson();
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto outcome = tshark->wait(30s);
    EXPECT_EQ(packets_of(outcome.out), annotated(run)) << outcome.all();
    expect_ended("server", "tcpdump");
}

TEST_F(ExtcapCapture, ends_on_the_host_even_if_the_extcap_program_is_killed) {
    const auto tshark = start("rdma-server", 1000, "server", "rocecap");
    const auto extcap = support::run({"pgrep", "-f", "rdma-wire-lab --capture"});
    ASSERT_EQ(extcap.exit_code, 0);
    ASSERT_EQ(support::run({"kill", "-KILL", std::to_string(std::stoi(extcap.out))}).exit_code, 0);
    expect_ended("server", "rocecap");
    tshark->signal(SIGINT);
}

TEST_F(ExtcapCapture, ends_if_wireshark_is_killed) {
    const auto tshark = start("rdma-server", 1000, "server", "rocecap");
    ASSERT_EQ(support::run({"kill", "-KILL", std::to_string(tshark->pid())}).exit_code, 0);
    expect_ended("server", "rocecap");
}

}  // namespace extcap_test
