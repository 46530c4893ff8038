// The lessons and the capture, built with AddressSanitizer and UndefinedBehaviorSanitizer, on the
// lab's real devices: handles are released in an order that the kernel accepts, and no memory
// leaks.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace sanitized_test {

namespace fs = std::filesystem;

const std::string build = "build/asan";

// Returns the numbers of all lessons, such as "01" for examples/01_cm_write_read.
std::vector<std::string> steps() {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("examples"))
        if (entry.path().filename() != "common")
            found.push_back(entry.path().filename().string().substr(0, 2));
    std::ranges::sort(found);
    return found;
}

class Sanitized : public testing::TestWithParam<std::string> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        ASSERT_TRUE(fs::exists(build + "/rocecap")) << "make SANITIZE=1 build";
    }
};

void expect_no_finding(const support::LabRun& run) {
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_FALSE(run.dir.empty()) << run.outcome.all();
    for (const char* log : {"server.log", "client.log", "capture.log"}) {
        EXPECT_EQ(run.text_of(log).find("Sanitizer"), std::string::npos) << run.text_of(log);
        EXPECT_EQ(run.text_of(log).find("runtime error"), std::string::npos) << run.text_of(log);
    }
    EXPECT_EQ(run.outcome.all().find("Sanitizer"), std::string::npos) << run.outcome.all();
}

// Beside another lab, lesson 09 takes more than the usual 60 s.
TEST_P(Sanitized, lesson_has_nothing_to_report) {
    expect_no_finding(
        support::run_without_capture(GetParam(), {"LAB_BUILD=" + build, "CAPTURE_SECONDS=240"}));
}

INSTANTIATE_TEST_SUITE_P(Lessons, Sanitized, testing::ValuesIn(steps()),
                         [](const auto& test) { return test.param; });

TEST(SanitizedCapture, has_nothing_to_report) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    expect_no_finding(support::capture("07", {"LAB_BUILD=" + build}));
}

TEST(SanitizedClient, a_failing_connection_leaves_nothing_behind) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    const std::string client = build + "/examples/04_access_denied/client";
    for (const support::Argv& command :
         {support::Argv{client, "192.0.2.1", "--port", "9"},
          support::Argv{client, "192.0.2.77", "--timeout", "1"},
          support::Argv{client, "192.0.2.1", "--device", "mlx5_9"},
          support::Argv{client, "192.0.2.1", "--gid-index", "200"}}) {
        const auto outcome = support::exec("client", command);
        EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
        EXPECT_EQ(outcome.err.find("Sanitizer"), std::string::npos) << outcome.all();
    }
}

}  // namespace sanitized_test
