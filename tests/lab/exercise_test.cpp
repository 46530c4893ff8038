// `lab/lab exercise`: asks, runs, judges by the run's own capture, and leaves nothing behind.
#include <chrono>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"

namespace exercise_test {

using namespace std::chrono_literals;

class ExerciseInLab : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    support::Outcome answer(const std::string& lesson, const std::string& answers) const {
        return support::run({"bash", "-c", "printf \"$0\" | lab/lab exercise " + lesson, answers},
                            {"LAB_RUNS=" + runs.str()}, 300s);
    }

    // Waits until a run has made its folder.
    bool await_run() const {
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!std::filesystem::exists(runs.path()) || std::filesystem::is_empty(runs.path())) {
            if (std::chrono::steady_clock::now() > deadline)
                return false;
            support::run({"sleep", "0.05"});
        }
        return true;
    }

    // What processes with this mark in their environment there are.
    static std::string left_of(const std::string& mark) {
        return support::run({"bash", "-c",
                             R"(for process in /proc/[0-9]*; do
    grep -qzxsF "$0" $process/environ && tr '\0' ' ' <$process/cmdline
done; true)",
                             mark})
            .out;
    }

    support::TempPath runs{"exercise_runs"};
};

TEST_F(ExerciseInLab, judges_each_answer_and_explains_it) {
    // The third question asks for a random PSN, the fourth gets no answer, the sixth is the last.
    const auto outcome = answer("01", "1\\n0x2\\nno idea\\n\\nTWO\\n7");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    std::size_t at = 0;
    for (const std::string part :
         {"> 1\nRight: 1.\nOne, and it is an", "> 0x2\nRight: 2.\nTwo: First",
          "> no idea\nNo: it is 0x", "> \nIt is 2.\n", "> TWO\nRight: 2.\n", "> 7\nNo: it is 5.\n",
          "(rocecap predict)\n", "\n3 of 6 right.\n"}) {
        at = outcome.out.find(part, at);
        ASSERT_NE(at, std::string::npos) << part << '\n' << outcome.out;
    }
    for (const auto& run : std::filesystem::directory_iterator(runs.path()))
        EXPECT_NE(outcome.out.find("\n  " + run.path().string() + "  (capture 01", at),
                  std::string::npos)
            << outcome.out;
}

TEST_F(ExerciseInLab, ends_at_q_and_clears_its_rules) {
    const auto outcome = answer("20", "q\\n");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("\n0 of 0 right.\n"), std::string::npos) << outcome.out;
    EXPECT_NE(support::run({"lab/lab", "wire"}).out.find("no rules"), std::string::npos);
}

TEST_F(ExerciseInLab, keeps_the_rules_of_the_learner) {
    ASSERT_EQ(support::run({"lab/lab", "wire", "drop the 1000th packet"}).exit_code, 0);
    const auto outcome = answer("20", "");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_EQ(outcome.err,
              "lab: the link emulator has rules already: lab/lab wire clear removes "
              "them.\n");
    EXPECT_NE(support::run({"lab/lab", "wire"}).out.find("drop the 1000th"), std::string::npos);
    support::run({"lab/lab", "wire", "clear"});
}

TEST_F(ExerciseInLab, stops_a_run_in_order_when_it_is_interrupted) {
    const std::string mark = "EXERCISE_MARK=" + runs.str();
    support::Process exercise({"lab/lab", "exercise", "20"}, {"LAB_RUNS=" + runs.str(), mark},
                              support::Input::held_open);
    ASSERT_TRUE(exercise.await("(lab/lab capture 20", 60s));
    ASSERT_TRUE(await_run());
    exercise.signal(SIGINT);
    const auto outcome = exercise.wait(60s);
    EXPECT_EQ(outcome.exit_code, 130) << outcome.all();
    EXPECT_EQ(outcome.err, "lab: stopping the run\n");
    const auto run =
        std::filesystem::directory_iterator(runs.path())->path().string() + "/run.json";
    EXPECT_EQ(support::run({"jq", "-c", "[.ended != null, .hosts.client.exit_code == 0]", run}).out,
              "[true,false]\n");
    EXPECT_EQ(left_of(mark), "");
    EXPECT_NE(support::run({"lab/lab", "wire"}).out.find("no rules"), std::string::npos);
    EXPECT_EQ(support::run({"bash", "-c", "ls build/lab/exercise.* 2>/dev/null"}).out, "");
}

TEST_F(ExerciseInLab, ends_at_a_question_when_it_is_interrupted) {
    support::Process exercise({"lab/lab", "exercise", "01"}, {"LAB_RUNS=" + runs.str()},
                              support::Input::held_open);
    ASSERT_TRUE(exercise.await("> ", 120s));
    exercise.signal(SIGINT);
    const auto outcome = exercise.wait(30s);
    EXPECT_EQ(outcome.exit_code, 130) << outcome.all();
    EXPECT_EQ(outcome.err, "");
}

}  // namespace exercise_test
