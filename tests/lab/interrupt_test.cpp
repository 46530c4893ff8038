// SIGINT (Ctrl-C), SIGHUP (a closed terminal) and SIGTERM, each at a random time during a lab
// command.
#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace {

using namespace std::chrono_literals;

// One try of each command. tests/run long makes 200 tries.
TEST(Interrupt, leaves_nothing_of_the_command_and_a_lab_that_comes_up_again) {
    const auto outcome = support::run({"tests/lab_scripts/interrupt", "3"}, {}, 600s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("3 tries, 0 failures"), std::string::npos) << outcome.all();
}

// In the first second of a run, the lab queries the hosts, each over its own connection.
TEST(Interrupt, ends_the_connections_to_hosts_that_were_just_asked) {
    ASSERT_EQ(support::bring_up(), std::nullopt);
    for (const char* delay : {"0.1", "0.2", "0.4"}) {
        const auto outcome = support::run({"bash", "-c",
                                           R"(set -m
LAB_MARK=$$ lab/lab capture 01 >/dev/null 2>&1 &
sleep $0
kill -TERM -- -$!
wait $!
status=$?
for process in /proc/[0-9]*; do
    grep -qzxsF "LAB_MARK=$$" $process/environ && tr '\0' ' ' <$process/cmdline | grep host/begin
done
exit $status)",
                                           delay});
        EXPECT_EQ(outcome.exit_code, 143) << outcome.all();
        EXPECT_EQ(outcome.out, "") << "after " << delay << " s";
    }
}

}  // namespace
