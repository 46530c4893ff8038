// rocexray where it cannot trace: one line and the exit code.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/tool.hpp"

namespace rocexray_test {

support::Outcome rocexray(support::Argv arguments) {
    arguments.insert(arguments.begin(), (support::build_dir() / "rocexray").string());
    return support::run(arguments);
}

TEST(RocexrayProgram, an_unknown_option_is_refused) {
    const auto outcome = rocexray({"--lits"});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find("--lits"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
}

TEST(RocexrayProgram, says_what_this_host_lacks) {
    if (std::filesystem::exists("/sys/kernel/btf/rdma_rxe"))
        GTEST_SKIP() << "Soft-RoCE is loaded here";
    const auto outcome = rocexray({"--", "true"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("rocexray: ")) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

TEST(RocexrayProgram, has_a_help_text) {
    const auto outcome = rocexray({"--help"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("rocexray -o client-driver.jsonl --role client"), std::string::npos);
}

}  // namespace rocexray_test
