// lab/lib/guard.sh: the exit status of a lab command that receives a signal at its end.
#include <sstream>

#include <gtest/gtest.h>

#include "support/process.hpp"

namespace {

// The command ignores the signal from its start, and takes 60 ms. Without guard.sh, bash 5.2
// returns another status in one of twelve tries.
TEST(Guard, keeps_the_status_of_a_command_that_ends_when_the_signal_comes) {
    const auto outcome = support::run({"bash", "-c", R"sh(
set -u
command='set -euo pipefail; say() { :; }; . lab/lib/guard.sh
work_60_ms() { trap "" TERM; sleep 0.06; exit 7; }; guarded work_60_ms'
for ((i = 0; i < 50; ++i)); do
    bash -c "$command" &
    sleep "0.0$((50 + RANDOM % 45))"
    kill -TERM $! 2>/dev/null
    wait $!
    echo $?
done | sort | uniq -c)sh"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find(" 7\n"), std::string::npos) << outcome.out;
    // 143: the signal arrived before the shell could handle it.
    std::istringstream lines(outcome.out);
    for (int count = 0, status = 0; lines >> count >> status;)
        EXPECT_TRUE(status == 7 || status == 143) << outcome.out;
}

}  // namespace
