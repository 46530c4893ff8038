// make install and uninstall.
#include <filesystem>
#include <set>
#include <sstream>

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

std::set<std::string> files_below(const fs::path& folder) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (!entry.is_directory())
            files.insert(entry.path().lexically_relative(folder));
    return files;
}

// The files that the package and the portable archive have, too.
std::set<std::string> listed_files() {
    std::istringstream list(support::run({"docs/packaging/files", "list"}).out);
    std::set<std::string> files;
    for (std::string line; std::getline(list, line);)
        files.insert(line);
    return files;
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
    EXPECT_EQ(files_below(root / "usr"), listed_files());

    const fs::path home = root / "home";
    const auto enabled =
        support::run({(root / "usr/share/rdma-wire-lab/wireshark/install").string(), "install"},
                     {"HOME=" + home.string(), "XDG_CONFIG_HOME="});
    EXPECT_EQ(enabled.exit_code, 0) << enabled.all();
    EXPECT_TRUE(fs::exists(home / ".config/wireshark/profiles/RDMA Wire Lab/preferences"));
    fs::remove_all(home);

    EXPECT_EQ(make("uninstall", root).exit_code, 0);
    EXPECT_EQ(files_below(root), std::set<std::string>{});
}

TEST(Install, refuses_wrong_arguments) {
    const auto outcome = support::run({"docs/packaging/files", "install", "build"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "docs/packaging/files: give list, install BUILD PREFIX, or uninstall PREFIX.\n");
}

}  // namespace
