// Ctrl-C, a closed terminal and SIGTERM, each at a random moment of a command of the lab.
#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace {

using namespace std::chrono_literals;

// One of each command; tests/run long has 200.
TEST(Interrupt, leaves_nothing_of_the_command_and_a_lab_that_comes_up_again) {
    const auto outcome = support::run({"tests/lab_scripts/interrupt", "3"}, {}, 600s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("3 tries, 0 failures"), std::string::npos) << outcome.all();
}

}  // namespace
