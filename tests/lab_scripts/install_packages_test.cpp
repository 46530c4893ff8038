// lab/install-packages on a simulated system: a folder in PATH with a dpkg-query and an apt that
// the test defines.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class InstallPackages : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(root_);
        // An ordinary user runs it, even if the tests run as root.
        fs::permissions(root_, fs::perms::all);
        fs::create_directory(root_ / "bin");
        fs::copy_file("lab/install-packages", root_ / "install-packages");
        fs::copy_file("lab/packages", root_ / "packages");
        for (const char* tool : {"bash", "grep", "sed", "tr", "env", "cat"})
            fs::create_symlink(fs::path("/bin") / tool, root_ / "bin" / tool);
    }

    void tool(const std::string& name, const std::string& script) {
        std::ofstream(root_ / "bin" / name) << "#!/bin/bash\n" << script << "\n";
        fs::permissions(root_ / "bin" / name, fs::perms(0755));
    }

    // `installed`: a shell condition on $name, which is a name in lab/packages.
    void system_with(const std::string& installed) {
        const std::string packages = (root_ / "packages").string();
        tool("dpkg-query", "while read -r _ names; do for name in ${names//|/ }; do " + installed +
                               " && echo \"installed $name\"; done; done < <(grep ^[a-z] " +
                               packages + ")");
        tool("apt-cache", "echo '  Candidate: 1.0-1'");
        tool("apt-get", "echo \"apt-get $*\" >>" + (root_ / "calls").string());
    }

    support::Outcome install(const support::Argv& groups, const std::string& machine = "x86_64") {
        support::Argv argv;
        if (geteuid() == 0)
            argv = {"setpriv", "--reuid=65534", "--clear-groups"};
        argv.insert(argv.end(), {"env", "PATH=" + (root_ / "bin").string(),
                                 (root_ / "install-packages").string()});
        argv.insert(argv.end(), groups.begin(), groups.end());
        return support::run(argv, {"LAB_SKIP_PACKAGES=0", "HOSTTYPE=" + machine});
    }

    std::string calls() const {
        std::ifstream file(root_ / "calls");
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }

    support::TempPath temp_{"install_packages"};
    fs::path root_ = temp_.str();
};

TEST_F(InstallPackages, is_silent_when_nothing_is_missing) {
    system_with("true");
    const auto outcome = install({"build", "lab", "test", "lint"});
    EXPECT_EQ(outcome.all(), "exit 0\n");
    EXPECT_EQ(calls(), "");
}

TEST_F(InstallPackages, takes_either_of_two_names_for_installed) {
    system_with("[[ $name != pkg-config ]]");
    EXPECT_EQ(install({"build"}).all(), "exit 0\n");
}

TEST_F(InstallPackages, lists_what_to_install_where_there_is_no_apt) {
    const auto outcome = install({"build", "lab"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("has no apt"), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.err.find("libibverbs-dev"), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.err.find("qemu-system-x86"), std::string::npos) << outcome.all();
    EXPECT_EQ(outcome.err.find("tshark"), std::string::npos) << "a group not asked for";
    EXPECT_NE(outcome.err.find("LAB_SKIP_PACKAGES=1"), std::string::npos) << outcome.all();
}

TEST_F(InstallPackages, installs_the_qemu_of_this_machines_architecture) {
    system_with("[[ $name != qemu-system-* ]]");
    EXPECT_NE(install({"lab"}).err.find("recommends qemu-system-x86\n"), std::string::npos);
    EXPECT_NE(install({"lab"}, "aarch64").err.find("recommends qemu-system-arm\n"),
              std::string::npos);
}

TEST_F(InstallPackages, names_roots_command_where_there_is_no_sudo) {
    system_with("[[ $name != libpcap-dev && $name != jq ]]");
    const auto outcome = install({"build", "lab"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("apt-get install --no-install-recommends libpcap-dev jq\n"),
              std::string::npos)
        << outcome.all();
    EXPECT_EQ(calls(), "");
}

TEST_F(InstallPackages, installs_what_is_missing_through_sudo_and_lists_it_first) {
    system_with("[[ $name != pkg-config && $name != pkgconf && $name != libdeflate-dev ]]");
    tool("apt-cache",
         "[[ $2 == pkg-config ]] && echo '  Candidate: (none)' || "
         "echo '  Candidate: 1.0-1'");
    tool("sudo", "echo sudo >>" + (root_ / "calls").string() + "; exec \"$@\"");
    const auto outcome = install({"build"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find("through sudo: pkg-config libdeflate-dev"), std::string::npos)
        << outcome.all();
    EXPECT_EQ(calls(),
              "sudo\napt-get -q install -y --no-install-recommends pkgconf libdeflate-dev\n");
}

TEST_F(InstallPackages, reads_the_lists_anew_when_installing_fails) {
    system_with("[[ $name != cpio ]]");
    const std::string log = (root_ / "calls").string();
    tool("apt-get", "echo \"$2\" >>" + log + "; [[ $2 == update || $(<" + log + ") == *update* ]]");
    tool("sudo", "exec \"$@\"");
    EXPECT_EQ(install({"lab"}).exit_code, 0);
    EXPECT_EQ(calls(), "install\nupdate\ninstall\n");
}

TEST_F(InstallPackages, says_which_package_apt_does_not_know) {
    system_with("[[ $name != cpio && $name != kmod ]]");
    tool("apt-cache", "[[ $2 == kmod ]] || echo '  Candidate: 1.0-1'");
    tool("sudo", "exec \"$@\"");
    const auto outcome = install({"lab"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("apt does not find these packages: kmod."), std::string::npos)
        << outcome.all();
}

TEST_F(InstallPackages, refuses_a_group_it_does_not_know) {
    const auto outcome = install({"biuld"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("no group 'biuld'"), std::string::npos) << outcome.all();
}

}  // namespace
