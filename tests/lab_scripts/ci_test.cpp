// The folder that LAB_PROJECT shows the guests: find_project() of lab/vm/exports.sh. What
// lab/lab ci prints: lab/lib/ci.sh, with a run directory of the test.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace ci_scripts_test {
namespace {

namespace fs = std::filesystem;

support::Outcome project(const std::string& folder, const std::string& home = "/root") {
    return support::run({"bash", "-c",
                         "set -euo pipefail; . lab/lib/common.sh; . lab/vm/exports.sh; "
                         "find_project; echo \"$PROJECT\""},
                        {"LAB_PROJECT=" + folder, "HOME=" + home});
}

TEST(LabProject, is_a_folder_that_the_guests_do_not_have) {
    const support::TempPath folder("lab_project");
    fs::create_directories(folder.path());
    EXPECT_EQ(project(folder.str()).all(),
              "exit 0\n" + fs::canonical(folder.path()).string() + "\n");
    for (const std::string& known : {std::string(), std::string("."), std::string("docs")})
        EXPECT_EQ(project(known).all(), "exit 0\n\n") << known;
}

TEST(LabProject, is_no_folder_of_the_system_and_no_home_folder) {
    const support::TempPath home("lab_home");
    fs::create_directories(home.path());
    EXPECT_EQ(project("/nonexistent").all(),
              "exit 2\nlab: LAB_PROJECT=/nonexistent is not a folder.\n");
    for (const char* folder : {"/", "/tmp", "/usr", "/proc/self", "/dev"}) {
        const auto outcome = project(folder);
        EXPECT_EQ(outcome.exit_code, 2) << folder;
        EXPECT_NE(outcome.err.find(" is a folder of the system"), std::string::npos) << folder;
    }
    // Whoever uses the lab: also root, or a user of sudo.
    for (const auto& [folder, user] : {std::pair(home.str(), home.str() + "/user"),
                                       {"/home", "/root"},
                                       {"/root", "/home/alice"}}) {
        const auto outcome = project(folder, user);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find("contains a home folder"), std::string::npos) << outcome.err;
    }
}

class CiReport : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(run_.path()); }

    void codes(const std::string& server, const std::string& client) const {
        std::ofstream(run_.path() / "run.json")
            << R"({"hosts":{"server":{)" << server << R"(},"client":{)" << client << "}}}";
    }

    std::string output(const std::string& command, const support::Argv& environment = {}) const {
        const auto outcome =
            support::run({"bash", "-c",
                          "set -euo pipefail; . lab/lib/common.sh; . lab/lib/ci.sh; "
                          "CI_BEGAN=$(now_ms) CAPTURE_SECONDS=7 LAB_BUILD=build RUN_DIR=$1 "
                          "SERVER_WORDS=(a b) CLIENT_WORDS=(c); set +e; " +
                              command,
                          "-", run_.str()},
                         environment);
        EXPECT_EQ(outcome.err, "");
        return outcome.out;
    }

    support::TempPath run_{"ci_report"};
};

TEST_F(CiReport, names_the_program_whose_status_it_is) {
    codes(R"("exit_code":0)", R"("exit_code":3)");
    EXPECT_EQ(output("verdict 3"), "the client failed with exit status 3");
    codes(R"("exit_code":139)", "");
    EXPECT_EQ(output("verdict 139"), "the server failed with exit status 139");
}

// A server that the lab has stopped has status 143.
TEST_F(CiReport, does_not_blame_a_program_for_the_lab) {
    codes(R"("exit_code":143)", "");
    EXPECT_EQ(output("verdict 1"), "the lab failed with exit status 1: its message is above");
    EXPECT_EQ(output("RUN_DIR= verdict 1"),
              "the lab failed with exit status 1: its message is above");
}

TEST_F(CiReport, tells_the_limit_from_a_client_that_ends_with_124) {
    codes(R"("exit_code":143)", R"("exit_code":124)");
    EXPECT_EQ(output("verdict 124"), "the client failed with exit status 124");
    std::ofstream(run_.path() / "client.log") << "text\nstopped: 7 s have passed\n";
    EXPECT_TRUE(output("verdict 124").starts_with("the client did not end within 7 s"));
}

TEST_F(CiReport, is_a_workflow_command_of_one_line_on_github_only) {
    std::ofstream(run_.path() / "explain.txt") << "1. loss\n   100 % lost\n";
    EXPECT_EQ(output("annotate 'the client failed'", {"GITHUB_ACTIONS="}), "");
    EXPECT_EQ(output("annotate 'the client failed'", {"GITHUB_ACTIONS=true"}),
              "::error title=RDMA Wire Lab::the client failed.%0A1. loss%0A   100 %25 lost\n");
}

TEST_F(CiReport, is_in_the_summary_of_the_job) {
    const support::TempPath summary("ci_summary");
    std::ofstream(run_.path() / "explain.txt") << "1. loss\n";
    EXPECT_EQ(output("summarize failed", {"GITHUB_STEP_SUMMARY=" + summary.str()}), "");
    std::ifstream file(summary.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, "### RDMA Wire Lab\n\n`a b :: c`: failed.\n\n````\n1. loss\n````\n\n");
}

// In YAML, "a :: b" without quotes is an error.
TEST(CiWorkflows, quote_the_separator_of_the_commands) {
    for (const char* name : {"docs/ci.md", "action.yml", ".github/workflows/ci.yml"}) {
        std::ifstream file(name);
        int examples = 0;
        bool is_yaml = !std::string_view(name).ends_with(".md");
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("```"))
                is_yaml = line == "```yaml";
            if (!is_yaml || line.find(" :: ") == std::string::npos)
                continue;
            EXPECT_TRUE(line.ends_with('\'') || line.find("description: \"") != std::string::npos)
                << name << ": " << line;
            ++examples;
        }
        EXPECT_GT(examples, 0) << name;
    }
}

}  // namespace
}  // namespace ci_scripts_test
