// LAB_SYSROOT: lab/vm/sysroot.sh, and QEMU's command line for each architecture: lab/vm/arch.sh.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class Sysroot : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(root_); }

    /// Runs these functions of the lab on a machine of this kind.
    static support::Outcome run(const std::string& functions,
                                const std::string& machine = "x86_64") {
        return support::run({"bash", "-c",
                             "set -euo pipefail; . lab/lib/common.sh; . lab/config; "
                             "LAB_STATE=/state; . lab/vm/arch.sh; . lab/vm/sysroot.sh; " +
                                 functions},
                            {"HOSTTYPE=" + machine, "XDG_CACHE_HOME=/cache",
                             "LAB_SYSROOT=", "LAB_BUILD=", "LAB_MEMORY=512", "LAB_CPUS=1"});
    }
    static std::string use(const std::string& value, const std::string& machine = "x86_64") {
        return run("use_sysroot '" + value +
                       "'; echo $GUEST_ARCH $SYSROOT_NAME $SYSROOT $SYSROOT_BUILD $ROOT_STATE",
                   machine)
            .all();
    }

    /// A program of the root: the first bytes of an ELF file for this machine.
    void program(const std::string& name, char machine) {
        std::string header(20, '\0');
        header[18] = machine;
        fs::create_directories(root_ / "usr/bin");
        std::ofstream(root_ / "usr/bin" / name) << header;
        fs::permissions(root_ / "usr/bin" / name, fs::perms(0755));
    }

    static constexpr char x86_64 = 62;
    static constexpr char aarch64 = static_cast<char>(183);
    support::TempPath temp_{"sysroot"};
    fs::path root_ = temp_.str();
};

TEST_F(Sysroot, is_this_machines_root_by_default) {
    EXPECT_EQ(use(""), "exit 0\namd64 / /state\n");
    EXPECT_EQ(use("/"), "exit 0\namd64 / /state\n");
    EXPECT_EQ(use("", "aarch64"), "exit 0\narm64 / /state\n");
}

TEST_F(Sysroot, is_a_release_of_this_or_another_architecture) {
    EXPECT_EQ(use("trixie"),
              "exit 0\namd64 trixie:amd64 /cache/rdma-wire-lab/trixie-amd64 "
              "build/sysroot-trixie-amd64 /state/trixie-amd64\n");
    EXPECT_EQ(use("trixie", "aarch64"),
              "exit 0\narm64 trixie:arm64 /cache/rdma-wire-lab/trixie-arm64 "
              "build/sysroot-trixie-arm64 /state/trixie-arm64\n");
    EXPECT_EQ(use("bookworm:arm64"),
              "exit 0\narm64 bookworm:arm64 /cache/rdma-wire-lab/bookworm-arm64 "
              "build/sysroot-bookworm-arm64 /state/bookworm-arm64\n");
}

TEST_F(Sysroot, is_a_release_with_further_packages) {
    EXPECT_EQ(use("forky+python3-torch"),
              "exit 0\namd64 forky:amd64+python3-torch "
              "/cache/rdma-wire-lab/forky-amd64+python3-torch "
              "build/sysroot-forky-amd64+python3-torch /state/forky-amd64+python3-torch\n");
    EXPECT_EQ(
        run("use_sysroot forky:arm64+gdb+strace; echo \"$SYSROOT_MORE, $(sysroot_text)\"").out,
        ",gdb,strace, Debian forky (arm64) with gdb strace\n");
    for (const char* wrong : {"forky+", "+gdb", "forky+gdb,strace", "forky+-o"})
        EXPECT_EQ(use(wrong).rfind("exit 2\nlab: LAB_SYSROOT is a folder", 0), 0U) << wrong;
}

TEST_F(Sysroot, is_a_folder_with_the_architecture_of_its_programs) {
    program("env", x86_64);
    const std::string folder = fs::canonical(root_).string();
    EXPECT_EQ(use(root_.string()).rfind("exit 0\namd64 " + folder + " " + folder, 0), 0u)
        << use(root_.string());
    program("env", aarch64);
    EXPECT_EQ(use(root_.string()).rfind("exit 0\narm64 " + folder + " " + folder, 0), 0u)
        << use(root_.string());
}

TEST_F(Sysroot, says_which_programs_the_root_lacks) {
    program("env", x86_64);
    for (const char* name : {"bash", "make", "ip", "busybox"})
        program(name, x86_64);
    const auto outcome = run("use_sysroot '" + root_.string() + "'; check_sysroot");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "lab: the root " + fs::canonical(root_).string() +
                               " lacks g++, sshd, rdma: install there g++ openssh-server iproute2, "
                               "or all packages of the groups build and guest in lab/packages.\n");
}

TEST_F(Sysroot, says_what_another_architecture_needs) {
    const auto outcome = run("use_sysroot trixie:arm64; grep() { false; }; need_emulator");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("cannot run programs for arm64, which LAB_SYSROOT=trixie:arm64 "
                               "needs: install the packages qemu-user-static"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(run("use_sysroot trixie; grep() { false; }; need_emulator").all(), "exit 0\n");
}

TEST_F(Sysroot, is_built_by_a_cross_compiler_of_its_compilers_version) {
    program("env", aarch64);
    fs::create_symlink("g++-12", root_ / "usr/bin/g++");
    const auto compiler = [&](const std::string& version) {
        return run("use_sysroot '" + root_.string() + "'; aarch64-linux-gnu-g++() { echo " +
                   version + "; }; cross_compiler")
            .all();
    };
    EXPECT_EQ(compiler("12"), "exit 0\naarch64-linux-gnu-g++");
    EXPECT_EQ(compiler("14"), "exit 1\n");
    EXPECT_EQ(run("use_sysroot trixie; cross_compiler").all(), "exit 1\n") << "not emulated";
}

TEST_F(Sysroot, of_the_running_guests_is_not_another_than_asked_for) {
    EXPECT_EQ(run("use_sysroot trixie:amd64; LAB_SYSROOT=trixie; check_asked_sysroot").all(),
              "exit 0\n");
    const auto outcome = run("use_sysroot ''; LAB_SYSROOT=trixie; check_asked_sysroot");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(
        outcome.err,
        "lab: the guests run this machine's root (amd64), but LAB_SYSROOT=trixie is requested: run "
        "LAB_SYSROOT=trixie lab/lab up first.\n");
}

TEST_F(Sysroot, has_the_packages_to_build_and_to_run) {
    const std::string packages = "," + run("sysroot_packages").out;
    for (const char* name : {",g++,", ",make,", ",openssh-server,", ",pkg-config,", ",iproute2,"})
        EXPECT_NE(packages.find(name), std::string::npos) << name << " in " << packages;
    EXPECT_EQ(packages.find("qemu"), std::string::npos) << packages;
}

// The words of QEMU's command line that depend on the architecture.
class QemuCommand : public Sysroot {
  protected:
    static std::string of(const std::string& sysroot, const std::string& accel,
                          const std::string& machine) {
        return run("guest_name() { printf %s \"$1\"; }; use_sysroot " + sysroot +
                       "; qemu_command server " + accel + "; echo \"${QEMU_COMMAND[*]}\"",
                   machine)
            .out;
    }
};

TEST_F(QemuCommand, is_for_the_architecture_of_the_guests) {
    EXPECT_EQ(of("''", "tcg", "x86_64"),
              "qemu-system-x86_64 -name server -machine q35,vmport=off -accel tcg,thread=multi "
              "-cpu max -smp cpus=1,maxcpus=2 -m 512 -append console=ttyS0 loglevel=4 panic=-1 "
              "mitigations=off random.trust_cpu=on no_timer_check\n");
    EXPECT_EQ(of("bookworm:arm64", "tcg", "x86_64"),
              "qemu-system-aarch64 -name server -machine virt,gic-version=max "
              "-accel tcg,thread=multi -cpu max,pauth-impdef=on -smp cpus=1,maxcpus=2 -m 512 "
              "-append console=ttyAMA0 loglevel=4 panic=-1 mitigations=off random.trust_cpu=on\n");
}

TEST_F(QemuCommand, has_the_hosts_cpu_with_kvm) {
    for (const char* machine : {"x86_64", "aarch64"})
        EXPECT_NE(of("''", "kvm", machine).find(" -accel kvm -cpu host "), std::string::npos);
}

}  // namespace
