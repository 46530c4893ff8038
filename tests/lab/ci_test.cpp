// lab/lab ci in the checkout of another project.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/other_lab.hpp"
#include "support/temp_path.hpp"

namespace ci_test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using support::Argv;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Ci : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    void SetUp() override {
        fs::create_directories(project_.path() / "bin");
        fs::copy_file("/usr/bin/ibv_rc_pingpong", project_.path() / "bin/pingpong");
    }

    /// The arguments of `lab/lab ci` with these options and programs, in the project's folder.
    Argv ci(const Argv& words) const {
        Argv argv{"env", "-C",          project_.str(), (fs::current_path() / "lab/lab").string(),
                  "ci",  "--artifacts", "kept"};
        argv.insert(argv.end(), words.begin(), words.end());
        return argv;
    }

    /// Returns the folder of the only run.
    fs::path run_folder() const {
        for (const auto& entry : fs::directory_iterator(project_.path() / "kept"))
            if (fs::exists(entry.path() / "run.json"))
                return entry.path();
        return {};
    }

    support::TempPath project_{"project"};
    support::OtherLab lab_{"build/ci-lab", {"LAB_MEMORY=512"}};
};

const Argv passing{"--",           "bin/pingpong", "-g", "1",  "-n", "10",      "::",
                   "bin/pingpong", "-g",           "1",  "-n", "10", "{server}"};

TEST_F(Ci, runs_programs_of_another_checkout_and_stops_the_lab) {
    const auto outcome = lab_.run(ci(passing), {}, 3min);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find("lab: ci: passed in "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(", the first packet after "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("Artifacts: " + run_folder().string()), std::string::npos)
        << outcome.err;
    EXPECT_EQ(lab_.guests(), "");
    for (const char* name : {"run.json", "wire.pcapng", "report.html", "timeline.txt",
                             "server.jsonl", "client.jsonl", "server.log"})
        EXPECT_GT(fs::file_size(run_folder() / name), 0U) << name;
    EXPECT_NE(text_of(run_folder() / "client.log").find("10 iters"), std::string::npos);
}

TEST_F(Ci, explains_a_failure_and_ends_with_the_status_of_the_program) {
    ASSERT_EQ(lab_.run({"lab/lab", "up"}, {"LAB_PROJECT=" + project_.str()}).exit_code, 0);
    const std::string summary = (project_.path() / "summary.md").string();
    const auto outcome =
        lab_.run(ci({"--", "bin/pingpong", "-g", "1", "-n", "10", "-s", "64", "::", "sh", "-c",
                     "bin/pingpong -g 1 -n 10 -s 4096 {server} || exit 3"}),
                 {"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + summary}, 3min);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    const std::string cause = "1. receive-too-small (certain)";
    for (const std::string& text : {"\n" + cause, std::string("Failed status remote "),
                                    std::string("::error title=RDMA Wire Lab::the client failed "
                                                "with exit status 3.%0A") +
                                        cause})
        EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
    EXPECT_EQ(text_of(run_folder() / "explain.txt").find(cause), 0U);
    EXPECT_NE(text_of(summary).find(cause), std::string::npos) << text_of(summary);
    const auto count = [&outcome](std::string_view text) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = outcome.out.find(text, at)) != std::string::npos; ++at)
            ++found;
        return found;
    };
    EXPECT_EQ(count("::group::"), count("::endgroup::"));
    // The lab was up before.
    EXPECT_NE(lab_.guests(), "");
    EXPECT_TRUE(fs::exists(project_.path() / "kept/lab/console-server.log"));
}

TEST_F(Ci, ends_programs_that_hang_at_the_limit) {
    ASSERT_EQ(lab_.run({"lab/lab", "up"}, {"LAB_PROJECT=" + project_.str()}).exit_code, 0);
    const auto outcome = lab_.run(
        ci({"--limit", "2", "--after", "0", "--", "sleep", "100", "::", "sleep", "100"}), {}, 1min);
    EXPECT_EQ(outcome.exit_code, 124) << outcome.all();
    EXPECT_NE(outcome.err.find("lab: ci: the client did not end within 2 s, and was stopped"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Ci, ends_with_the_status_of_a_server_that_ends_before_its_client) {
    ASSERT_EQ(lab_.run({"lab/lab", "up"}, {"LAB_PROJECT=" + project_.str()}).exit_code, 0);
    const auto outcome =
        lab_.run(ci({"--", "sh", "-c", "echo >bin/planted; exit 5", "::", "true"}), {}, 1min);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.all();
    EXPECT_NE(outcome.err.find("lab: ci: the server failed with exit status 5"), std::string::npos)
        << outcome.err;
    // The guests cannot write there.
    EXPECT_FALSE(fs::exists(project_.path() / "bin/planted"));
}

class InterruptedCi : public Ci, public testing::WithParamInterface<const char*> {};

// The text is printed while the lab starts, and while the programs run.
TEST_P(InterruptedCi, leaves_no_guest) {
    Argv environment = lab_.environment();
    support::Process process(ci({"--after", "0", "--", "sleep", "100", "::", "sleep", "100"}),
                             environment);
    ASSERT_TRUE(process.await(GetParam(), 1min));
    process.signal(SIGTERM);
    const auto outcome = process.wait(1min);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.all();
    EXPECT_NE(outcome.err.find("lab: ci: interrupted after "), std::string::npos) << outcome.err;
    EXPECT_EQ(lab_.guests(), "");
}

INSTANTIATE_TEST_SUITE_P(Moments, InterruptedCi, testing::Values("== the lab", "== the programs"),
                         [](const auto& test) { return std::string(test.param).substr(7); });

}  // namespace ci_test
