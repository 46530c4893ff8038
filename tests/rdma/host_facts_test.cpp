// What gather() reads of this host, against the same facts from other calls.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rdma/doctor.hpp"
#include "rdma/pretend_library.hpp"
#include "util/sysfs.hpp"

namespace host_facts_test {

namespace fs = std::filesystem;

TEST(HostFacts, are_those_of_the_kernel_and_the_user) {
    const rdma::HostFacts host = rdma::gather();
    utsname kernel{};
    ASSERT_EQ(uname(&kernel), 0);
    EXPECT_EQ(host.kernel, kernel.release);
    EXPECT_EQ(host.is_root, geteuid() == 0);
    EXPECT_EQ(host.rxe_loaded, fs::exists("/sys/module/rdma_rxe"));
    const std::string modules = "/lib/modules/" + host.kernel + "/modules.dep";
    EXPECT_EQ(host.rxe_modules_known, fs::exists(modules));
    EXPECT_EQ(host.rdma_cm_node, fs::exists("/dev/infiniband/rdma_cm"));
    EXPECT_LE(host.rdma_cm_access, host.rdma_cm_node);
    EXPECT_LE(host.uverbs_access, host.uverbs_node);
    EXPECT_EQ(host.kernel_devices.size(), util::entries_of("/sys/class/infiniband").size());
}

TEST(HostFacts, have_the_limit_of_locked_memory) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    const rlimit limited{std::min<rlim_t>(before.rlim_max, 65536), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limited), 0);
    EXPECT_EQ(rdma::gather().memlock, limited.rlim_cur);
    if (before.rlim_max == RLIM_INFINITY) {
        const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &unlimited), 0);
        EXPECT_EQ(rdma::gather().memlock, std::nullopt);
    }
    setrlimit(RLIMIT_MEMLOCK, &before);
}

TEST(HostFacts, have_the_interfaces_of_the_network_namespace) {
    std::set<std::string> names;
    for (const fs::path& netdev : util::entries_of("/sys/class/net"))
        if (fs::is_directory(netdev))
            names.insert(netdev.filename());
    const rdma::HostFacts host = rdma::gather();
    std::set<std::string> found;
    for (const rdma::NetdevFacts& netdev : host.netdevs) {
        const fs::path folder = "/sys/class/net/" + netdev.name;
        EXPECT_TRUE(found.insert(netdev.name).second) << netdev.name;
        EXPECT_EQ(netdev.has_device, fs::exists(folder / "device"));
        EXPECT_EQ(netdev.is_ethernet, util::first_line(folder / "type") == "1");
        EXPECT_EQ(netdev.is_loopback, netdev.name == "lo");
        EXPECT_GE(netdev.is_up, util::first_line(folder / "operstate") == "up") << netdev.name;
        EXPECT_EQ(netdev.below.empty(), !fs::exists("/proc/net/vlan/" + netdev.name));
        for (const std::string& address : netdev.addresses)
            EXPECT_TRUE(util::Address::parse(address)) << address;
    }
    EXPECT_EQ(found, names);
}

TEST(HostFacts, a_finding_is_described_with_its_fix_if_it_has_one) {
    EXPECT_EQ(rdma::describe({rdma::Verdict::good, "all is well", ""}),
              (runlog::Fields{{"verdict", "good"}, {"what", "all is well"}}));
    EXPECT_EQ(rdma::describe({rdma::Verdict::advice, "it is slow", "wait"}),
              (runlog::Fields{{"verdict", "advice"}, {"what", "it is slow"}, {"fix", "wait"}}));
    EXPECT_EQ(rdma::describe({rdma::Verdict::wrong, "it fails", "repair it"}),
              (runlog::Fields{{"verdict", "wrong"}, {"what", "it fails"}, {"fix", "repair it"}}));
}

}  // namespace host_facts_test
