// LAB_KERNEL: lab/vm/kernel.sh, and which of Debian's packages it means: lab/vm/debian_kernel.sh.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class LabKernel : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(root_); }

    /// Runs these functions of the lab.
    static support::Outcome run(const std::string& functions, const std::string& kernel = "") {
        return support::run(
            {"bash", "-c",
             "set -euo pipefail; . lab/lib/common.sh; . lab/config; "
             "ROOT_STATE=/state SYSROOT=/none GUEST_ARCH=amd64; "
             "KERNEL_META=linux-image-amd64; "
             ". lab/vm/packages.sh; . lab/vm/kernel.sh; . lab/vm/debian_kernel.sh; " +
                 functions},
            {"LAB_KERNEL=" + kernel, "LAB_MODULES=", "LAB_CLIENTS=2",
             "XDG_CACHE_HOME=" + cache().string()});
    }
    static std::string wanted(const std::string& kernel) {
        return run("check_kernels; set_clients 2; kernels_wanted \"${LAB_HOSTS[@]}\"", kernel).out;
    }
    /// The first line of stderr of a setting that is refused.
    static std::string refused(const std::string& kernel) {
        const auto outcome = run("check_kernels", kernel);
        EXPECT_NE(outcome.exit_code, 0) << kernel;
        return outcome.err;
    }

    /// A root with the files of a kernel that has the guests' modules, but for `without`.
    static void add_kernel(const fs::path& root, const std::string& version,
                           const std::string& without = "") {
        const fs::path modules = root / "lib/modules" / version;
        fs::create_directories(modules);
        fs::create_directories(root / "boot");
        std::ofstream(root / "boot" / ("vmlinuz-" + version)) << "image";
        std::ofstream names(modules / "modules.dep");
        for (const char* name : {"virtio_pci", "virtio_net", "virtio-rng", "9p", "9pnet_virtio",
                                 "overlay", "rdma_rxe", "rdma_ucm", "ib_uverbs", "ib_umad"})
            if (name != without)
                names << "kernel/drivers/" << name << ".ko.xz: \n";
    }
    static fs::path cache() {
        return fs::path(testing::TempDir()) / ("cache-" + std::to_string(getpid()));
    }
    void TearDown() override { fs::remove_all(cache()); }

    support::TempPath temp_{"kernel"};
    fs::path root_ = temp_.str();
};

TEST_F(LabKernel, is_one_for_all_hosts_or_one_for_each) {
    EXPECT_EQ(wanted(""), "server=default,client=default,client2=default");
    EXPECT_EQ(wanted("6.12"), "server=6.12,client=6.12,client2=6.12");
    EXPECT_EQ(wanted("server=6.1,client=trixie"), "server=6.1,client=trixie,client2=default");
    EXPECT_EQ(wanted("6.12,client2=7.3"), "server=6.12,client=6.12,client2=7.3");
    EXPECT_EQ(wanted("linux-image-6.12.107+deb13-amd64,server=default"),
              "server=default,client=linux-image-6.12.107+deb13-amd64,"
              "client2=linux-image-6.12.107+deb13-amd64");
    EXPECT_EQ(wanted(root_.string()).rfind("server=" + fs::canonical(root_).string() + ",", 0), 0U);
}

TEST_F(LabKernel, is_told_for_each_host_if_they_differ) {
    const auto told = [](const std::string& server, const std::string& client) {
        const auto of = [](const std::string& version) {
            return "$'/lib/modules/" + version + "\\n/s\\n/i'";
        };
        return run("LAB_HOSTS=(server client client2); KERNELS=([server]=" + of(server) +
                   " [client]=" + of(client) + " [client2]=" + of(server) + "); kernels_text")
            .out;
    };
    EXPECT_EQ(told("6.1", "6.1"), "6.1");
    EXPECT_EQ(told("6.1", "7.3"), "server 6.1, client 7.3, client2 6.1");
}

TEST_F(LabKernel, that_cannot_be_is_refused) {
    for (const char* wrong : {"6", "6.", "Trixie", "6.12;6.1", "linux-6.12", "server=", "6.12 6.1"})
        EXPECT_NE(refused(wrong).find("is none of these"), std::string::npos) << wrong;
    EXPECT_NE(refused("client3=6.1").find("for client3, and the lab has 2 client(s)"),
              std::string::npos);
    EXPECT_NE(refused("clients=6.1").find("'clients' is not a host"), std::string::npos);
    EXPECT_NE(refused("/nonexistent/vmlinuz").find("cannot be read"), std::string::npos);
}

TEST_F(LabKernel, of_a_version_is_not_one_that_only_looks_like_it) {
    const auto is = [](const std::string& version, const std::string& start) {
        return run("is_version '" + version + "' '" + start + "'").exit_code == 0;
    };
    EXPECT_TRUE(is("6.1.0-56-amd64", "6.1"));
    EXPECT_TRUE(is("6.12.107+deb13-amd64", "6.12"));
    EXPECT_TRUE(is("6.12.107+deb13-amd64", "6.12.107"));
    EXPECT_TRUE(is("7.3-amd64", "7.3"));
    EXPECT_FALSE(is("6.12.107+deb13-amd64", "6.1"));
    EXPECT_FALSE(is("6.12.107+deb13-amd64", "6.12.10"));
}

TEST_F(LabKernel, in_a_folder_is_the_one_with_all_modules) {
    add_kernel(root_, "6.1.0-1-amd64", "rdma_rxe");
    const std::string use = "kernel_at '" + root_.string() + "'; echo $KERNEL_VERSION";
    const auto none = run(use);
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_NE(none.err.find("lib/modules/VERSION with the module rdma_rxe"), std::string::npos)
        << none.err;
    add_kernel(root_, "6.12.9-amd64");
    EXPECT_EQ(run(use).all(), "exit 0\n6.12.9-amd64\n");
}

TEST_F(LabKernel, that_was_fetched_before_is_used_again) {
    for (const char* version : {"6.12.9+deb13-amd64", "6.12.10+deb13-amd64", "6.18.1-amd64"})
        add_kernel(cache() / "rdma-wire-lab" / ("kernel-" + std::string(version)), version);
    add_kernel(cache() / "rdma-wire-lab/kernel-6.12.11-arm64", "6.12.11-arm64");
    const std::string end = "; echo $KERNEL_VERSION";
    const std::string nothing = "fetch_debian_kernel() { echo \"fetches $1\"; KERNEL_VERSION=; }; ";
    EXPECT_EQ(run(nothing + "debian_kernel 6.12" + end).out, "6.12.10+deb13-amd64\n");
    EXPECT_EQ(run(nothing + "debian_kernel 6.12.9" + end).out, "6.12.9+deb13-amd64\n");
    EXPECT_EQ(run(nothing + "debian_kernel linux-image-6.18.1-amd64" + end).out, "6.18.1-amd64\n");
    EXPECT_EQ(run(nothing + "debian_kernel 7.3" + end).out, "fetches 7.3\n\n");
    EXPECT_EQ(run(nothing + "debian_kernel trixie" + end).out, "fetches trixie\n\n");
}

/// Debian's packages, as apt-cache prints them.
constexpr const char* debian =
    "apt_options=(); apt-cache() { case $* in"
    " *search*) printf '%s - Linux\\n' linux-image-6.1.0-57-amd64 linux-image-6.12-amd64 "
    "linux-image-6.12.90+deb12-amd64 linux-image-6.12.107+deb13-amd64 "
    "linux-image-6.12.117+deb13-cloud-amd64 linux-image-7.1.13-amd64 linux-image-7.3-amd64 "
    "linux-image-7.3-rt-amd64 ;;"
    " *' linux-image-6.12-amd64') printf '  Depends: linux-image-6.12.90+deb12-amd64\\n' ;;"
    " *' linux-image-7.1.13-amd64') printf '  Depends: <linux-modules-7.1.13-amd64>\\n' ;;"
    " *' linux-image-amd64') printf '  Depends: linux-image-6.12.107+deb13-amd64\\n' ;;"
    " *) printf '  Depends: kmod\\n |Depends: <linux-initramfs-tool>\\n' ;; esac; }; ";

TEST_F(LabKernel, of_debian_is_the_newest_package_that_matches) {
    const auto choose = [](const std::string& kernel) {
        return run(std::string(debian) + "choose_kernel " + kernel +
                   " \"$(kernel_packages)\"; echo $KERNEL_PACKAGE")
            .all();
    };
    EXPECT_EQ(choose("6.1"), "exit 0\nlinux-image-6.1.0-57-amd64\n");
    EXPECT_EQ(choose("6.12"), "exit 0\nlinux-image-6.12.107+deb13-amd64\n");
    EXPECT_EQ(choose("6.12.90"), "exit 0\nlinux-image-6.12.90+deb12-amd64\n");
    EXPECT_EQ(choose("7.3"), "exit 0\nlinux-image-7.3-amd64\n");
    EXPECT_EQ(choose("7.1"), "exit 0\n\n") << "without its modules";
    EXPECT_EQ(choose("8.0"), "exit 0\n\n");
    EXPECT_EQ(choose("trixie"), "exit 0\nlinux-image-6.12.107+deb13-amd64\n");
}

TEST_F(LabKernel, of_a_version_is_looked_for_in_all_releases) {
    std::ofstream(root_ / "sources")
        << "deb http://mirror.example/debian bookworm main\n"
           "deb http://mirror.example/security bookworm-security main\n";
    const auto sources = run("add_suites '" + (root_ / "sources").string() + "'; cat '" +
                             root_.string() + "/sources'");
    for (const char* suite : {"bookworm", "trixie-backports", "experimental"})
        EXPECT_NE(
            sources.out.find("deb http://mirror.example/debian " + std::string(suite) + " main"),
            std::string::npos)
            << sources.all();
}

}  // namespace
