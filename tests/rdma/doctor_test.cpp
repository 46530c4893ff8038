#include "rdma/doctor.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include <gtest/gtest.h>

namespace {

using rdma::Finding;
using rdma::HostFacts;
using rdma::Verdict;

rdma::Gid gid(const char* text, std::uint32_t index, ibv_gid_type type = IBV_GID_TYPE_ROCE_V2) {
    rdma::Gid gid;
    gid.index = index;
    gid.type = type;
    EXPECT_EQ(inet_pton(AF_INET6, text, gid.raw.raw), 1) << text;
    return gid;
}

HostFacts healthy() {
    HostFacts host;
    host.kernel = "6.1.0";
    host.rxe_loaded = host.rxe_available = host.rxe_modules_known = true;
    host.kernel_devices = host.verbs_devices = {"rxe0"};
    host.uverbs_node = host.uverbs_access = host.rdma_cm_node = host.rdma_cm_access = true;
    rdma::PortFacts port;
    port.device = "rxe0";
    port.state = IBV_PORT_ACTIVE;
    port.path_mtu = 4096;
    port.netdev = "eth0";
    port.netdev_mtu = 9000;
    port.netdev_up = true;
    port.gids = {gid("fe80::1", 0), gid("::ffff:192.0.2.1", 1)};
    host.ports = {port};
    return host;
}

std::vector<Finding> bad(const HostFacts& host, const char* address = nullptr) {
    auto findings = rdma::diagnose(host, address ? util::Address::parse(address) : std::nullopt);
    std::erase_if(findings, [](const Finding& f) { return f.verdict == Verdict::good; });
    return findings;
}

// Expects exactly one finding, with this text, and with `fix` in the command that fixes it.
void expect_only(const std::vector<Finding>& findings, Verdict verdict, const std::string& what,
                 const std::string& fix) {
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].verdict, verdict);
    EXPECT_NE(findings[0].what.find(what), std::string::npos) << findings[0].what;
    EXPECT_NE(findings[0].fix.find(fix), std::string::npos) << findings[0].fix;
}

TEST(Doctor, finds_nothing_on_a_healthy_host) {
    EXPECT_TRUE(bad(healthy()).empty());
    EXPECT_TRUE(bad(healthy(), "192.0.2.1").empty());
}

TEST(Doctor, no_device_names_the_module_or_the_link_that_is_missing) {
    HostFacts host = healthy();
    host.kernel_devices.clear();
    host.verbs_devices.clear();
    host.ports.clear();
    host.netdevs = {{"docker0", false, {}}, {"enp1s0", true, {"192.0.2.7"}}};
    expect_only(bad(host), Verdict::wrong, "loaded but on no interface",
                "rdma link add rxe0 type rxe netdev enp1s0 (or of docker0)");
    host.netdevs.front().addresses = {"192.0.2.1"};
    expect_only(bad(host, "192.0.2.1"), Verdict::wrong, "loaded but on no interface",
                "rdma link add rxe0 type rxe netdev docker0");
    host.rxe_loaded = false;
    expect_only(bad(host), Verdict::wrong, "not loaded", "modprobe rdma_rxe");
    host.rxe_available = false;
    expect_only(bad(host), Verdict::wrong, "no Soft-RoCE module", "linux-modules-extra");
    host.rxe_modules_known = false;
    expect_only(bad(host), Verdict::wrong, "no modules to load", "make lab-up");
}

TEST(Doctor, a_missing_provider_is_told_from_a_missing_node_and_a_missing_permission) {
    HostFacts host = healthy();
    host.ports.clear();
    host.verbs_devices.clear();
    expect_only(bad(host), Verdict::wrong, "userspace provider", "ibverbs-providers");
    host.uverbs_access = false;
    expect_only(bad(host), Verdict::wrong, "may not open /dev/infiniband/uverbs", "group");
    host.uverbs_node = false;
    expect_only(bad(host), Verdict::wrong, "no uverbs device", "modprobe ib_uverbs");
}

TEST(Doctor, rdma_cm_needs_its_node) {
    HostFacts host = healthy();
    host.rdma_cm_node = false;
    expect_only(bad(host), Verdict::wrong, "/dev/infiniband/rdma_cm is missing",
                "modprobe rdma_ucm");
    host.rdma_cm_node = true;
    host.rdma_cm_access = false;
    expect_only(bad(host), Verdict::wrong, "may not open /dev/infiniband/rdma_cm", "group");
}

TEST(Doctor, a_port_that_is_down_names_its_interface) {
    HostFacts host = healthy();
    host.ports[0].state = IBV_PORT_DOWN;
    host.ports[0].netdev_up = false;
    expect_only(bad(host), Verdict::wrong, "rxe0 port 1 is DOWN: eth0 is down",
                "ip link set eth0 up");
}

TEST(Doctor, an_address_without_a_gid_is_wrong) {
    expect_only(bad(healthy(), "198.51.100.9"), Verdict::wrong,
                "no RDMA device has a GID for 198.51.100.9",
                "ip addr add 198.51.100.9/24 dev eth0");
}

TEST(Doctor, an_address_with_only_a_roce_v1_gid_is_wrong) {
    HostFacts host = healthy();
    host.ports[0].gids[1].type = IBV_GID_TYPE_ROCE_V1;
    expect_only(bad(host, "192.0.2.1"), Verdict::wrong, "none of type RoCE v2", "v2");
}

TEST(Doctor, no_roce_v2_gid_at_all_is_wrong_without_an_address_too) {
    HostFacts host = healthy();
    host.ports[0].gids.clear();
    expect_only(bad(host), Verdict::wrong, "no RoCE v2 GID", "ip addr add");
}

TEST(Doctor, rdma_cm_speaking_v1_is_wrong) {
    HostFacts host = healthy();
    host.ports[0].default_roce_mode = "IB/RoCE v1";
    expect_only(bad(host), Verdict::wrong, "uses IB/RoCE v1", "default_roce_mode");
    host.ports[0].default_roce_mode = "RoCE v2";
    EXPECT_TRUE(bad(host).empty());
}

TEST(Doctor, a_small_mtu_is_advice) {
    HostFacts host = healthy();
    host.ports[0].path_mtu = 1024;
    host.ports[0].netdev_mtu = 1500;
    expect_only(bad(host), Verdict::advice, "path MTU 1024", "mtu 4200");
}

TEST(Doctor, a_small_locked_memory_limit_is_advice_but_not_for_root) {
    HostFacts host = healthy();
    host.memlock = 8u << 20;
    expect_only(bad(host), Verdict::advice, "8192 KiB", "ulimit -l");
    host.is_root = true;
    EXPECT_TRUE(bad(host).empty());
}

TEST(Doctor, an_infiniband_port_is_not_asked_for_roce) {
    HostFacts host = healthy();
    host.ports[0].is_ethernet = false;
    host.ports[0].gids = {gid("fe80::1", 0, IBV_GID_TYPE_IB)};
    EXPECT_TRUE(bad(host).empty());
}

TEST(Gid, stands_for_an_ip_address) {
    EXPECT_EQ(gid("::ffff:192.0.2.1", 1).address().host(), "192.0.2.1");
    EXPECT_EQ(gid("2001:db8::7", 2).address().host(), "2001:db8::7");
}

}  // namespace
