// examples/20_one_packet/predict in the lab: runs a scenario by its name and asks for predictions.
#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace lesson20_predict_test {

class Lesson20Predict : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

support::Outcome predict(const std::string& answers, const std::string& arguments) {
    return support::run(
        {"bash", "-c", "printf '" + answers + "' | examples/20_one_packet/predict " + arguments},
        {}, std::chrono::minutes(2));
}

bool has(const support::Outcome& outcome, const std::string& part) {
    return outcome.out.find(part) != std::string::npos;
}

TEST_F(Lesson20Predict, plays_a_scenario_tells_its_rule_and_asks_for_what_follows) {
    const auto outcome = predict("write +5\\nq\\n", "'lose WRITE middle'");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(
        outcome.out.starts_with("lose WRITE middle: three messages, client --op write\n"
                                "the link emulator: drop the 5th packet from client\n"))
        << outcome.all();
    EXPECT_TRUE(has(outcome, "drop      RC RDMA WRITE Middle PSN +4")) << outcome.all();
    EXPECT_TRUE(has(outcome, "The client sends the next packet. Which kind and PSN?"));
    EXPECT_TRUE(outcome.out.ends_with("1 asked: 1 right, 0 nearly, 0 wrong\n")) << outcome.all();
    EXPECT_EQ(support::run({"lab/lab", "wire"}).out.find("drop the 5th"), std::string::npos)
        << "the link emulator is left as it was";
}

TEST_F(Lesson20Predict, asks_all_the_way_to_the_end) {
    const auto outcome = predict(std::string(60, '\n'), "'lose READ resp. middle' --all");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "link             drop      RC RDMA READ response Middle PSN +4"))
        << outcome.all();
    EXPECT_TRUE(has(outcome, "RC RDMA READ Request         PSN +4")) << outcome.all();
    EXPECT_TRUE(has(outcome, "0 right, 0 nearly, 0 wrong, ")) << outcome.all();
}

TEST_F(Lesson20Predict, knows_no_other_scenarios_than_the_file_s) {
    const auto outcome = predict("", "'lose everything'");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "predict: there is no scenario 'lose everything': "
              "examples/20_one_packet/scenarios lists them.\n");
}

}  // namespace lesson20_predict_test
