// make install and uninstall.
#include <filesystem>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

support::Outcome make(const std::string& target, const fs::path& root) {
    return support::run(
        {"make", "--no-print-directory", target, "DESTDIR=" + root.string(), "PREFIX=/usr"},
        {"MAKEFLAGS="});
}

TEST(Install, puts_program_manual_and_completion_below_the_prefix_and_takes_them_away) {
    const support::TempPath temporary("install");
    const fs::path root = temporary.str();
    const auto installed = make("install", root);
    ASSERT_EQ(installed.exit_code, 0) << installed.all();
    const auto version = support::run({(root / "usr/bin/rocecap").string(), "--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.out.rfind("rocecap ", 0), 0U) << version.all();
    EXPECT_TRUE(fs::exists(root / "usr/share/man/man1/rocecap.1"));
    EXPECT_EQ(support::run({(root / "usr/bin/rocetrace").string(), "-o", "/dev/null", "--", "true"})
                  .exit_code,
              0);
    EXPECT_TRUE(fs::exists(root / "usr/share/bash-completion/completions/rocecap"));

    EXPECT_EQ(make("uninstall", root).exit_code, 0);
    for (const auto& entry : fs::recursive_directory_iterator(root))
        EXPECT_TRUE(entry.is_directory()) << entry.path();
}

}  // namespace
