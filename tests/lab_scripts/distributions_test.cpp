// Invalid arguments of tests/distributions/run and packages: one line and exit code 2, before a root
// is created.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/process.hpp"

namespace {

void expect_refused(support::Argv arguments, const char* says, const char* script = "run") {
    arguments.insert(arguments.begin(), std::string("tests/distributions/") + script);
    const auto outcome = support::run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
    EXPECT_EQ(outcome.out, "");
}

TEST(Distributions, no_suite_is_refused) {
    expect_refused({}, "give at least one suite");
}

TEST(Distributions, unknown_option_is_refused) {
    expect_refused({"--tests", "trixie"}, "there is no option '--tests'");
}

TEST(Distributions, folder_without_name_is_refused) {
    expect_refused({"trixie", "--folder"}, "--folder needs the name of a folder");
}

TEST(Distributions, unknown_architecture_is_refused) {
    expect_refused({"--arch", "riscv64"}, "--arch takes amd64 or arm64, not 'riscv64'");
}

TEST(Distributions, tests_of_a_distribution_with_an_architecture_are_refused) {
    expect_refused({"--arch", "arm64", "--test"}, "give it without --test");
}

TEST(Distributions, path_as_suite_is_refused) {
    expect_refused({"../trixie"}, "'../trixie' is not a valid suite name");
}

TEST(Distributions, packages_of_an_unknown_kind_or_without_a_suite_are_refused) {
    expect_refused({"rpm", "trixie"}, "the first argument is deb or portable, not 'rpm'",
                   "packages");
    expect_refused({"deb"}, "give at least one suite", "packages");
    expect_refused({"deb", "../trixie"}, "'../trixie' is not a valid suite name", "packages");
}

}  // namespace
