#include "rdma/doctor.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <sstream>

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
    host.kernel_devices = host.verbs_devices = host.opened_devices = {"rxe0"};
    host.netdevs = {{.name = "lo", .is_up = true, .is_loopback = true, .addresses = {"127.0.0.1"}},
                    {.name = "eth0",
                     .is_up = true,
                     .has_device = true,
                     .is_ethernet = true,
                     .addresses = {"192.0.2.1", "fe80::5%eth0"}}};
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
    host.netdevs = {{.name = "docker0", .is_up = true, .is_ethernet = true},
                    {.name = "wg0", .is_up = true, .addresses = {"192.0.2.8"}},
                    {.name = "down0", .has_device = true, .is_ethernet = true},
                    {.name = "enp1s0",
                     .is_up = true,
                     .has_device = true,
                     .is_ethernet = true,
                     .addresses = {"192.0.2.7"}}};
    expect_only(bad(host), Verdict::wrong, "loaded but on no interface",
                "rdma link add rxe0 type rxe netdev enp1s0 (or of docker0)");
    host.netdevs.front().addresses = {"192.0.2.1"};
    expect_only(bad(host, "192.0.2.1"), Verdict::wrong, "loaded but on no interface",
                "rdma link add rxe0 type rxe netdev docker0");
    // No RoCE device can be on wg0.
    expect_only(bad(host, "192.0.2.8"), Verdict::wrong, "loaded but on no interface",
                "rdma link add rxe0 type rxe netdev enp1s0 (or of docker0)");
    host.rxe_loaded = false;
    expect_only(bad(host), Verdict::wrong, "not loaded", "modprobe rdma_rxe");
    host.rxe_available = false;
    expect_only(bad(host), Verdict::wrong, "no Soft-RoCE module", "full modules; or use the lab");
    host.rxe_modules_known = false;
    expect_only(bad(host), Verdict::wrong, "no modules to load", "make lab-up");
}

TEST(Doctor, the_package_of_the_module_is_that_of_the_distribution) {
    const struct {
        const char* os_release;
        const char* fix;
    } samples[] = {
        {"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nHOME_URL=\"https://ID=x\"\n",
         "install linux-image-"},
        {"ID=raspbian\nID_LIKE=debian\n", "install linux-image-"},
        {"NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n",
         "linux-modules-extra-$(uname -r)"},
        {"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "linux-modules-extra-$(uname -r)"},
        {"NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=42\n", "kernel-modules-extra-$(uname -r)"},
        {"ID=\"rhel\"\nID_LIKE=\"fedora\"\n", "kernel-modules-extra-$(uname -r)"},
        {"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "kernel-modules-extra-$(uname -r)"},
        {"ID=arch\nBUILD_ID=rolling\n", "pacman -S linux"},
        {"ID=manjaro\nID_LIKE='arch'\n", "pacman -S linux"},
        {"ID=nixos\n", "full modules"},
        {"", "full modules"},
    };
    HostFacts host = healthy();
    host.kernel_devices.clear();
    host.rxe_loaded = host.rxe_available = false;
    host.ports.clear();
    for (const auto& [text, fix] : samples) {
        SCOPED_TRACE(text);
        std::istringstream os_release(text);
        host.os_ids = rdma::os_ids(os_release);
        expect_only(bad(host), Verdict::wrong, "no Soft-RoCE module", fix);
    }
    host.kernel = "6.6.87.2-microsoft-standard-WSL2";
    host.os_ids = {"ubuntu", "debian"};
    expect_only(bad(host), Verdict::wrong, "no Soft-RoCE module", "WSL2's kernel");
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

TEST(Doctor, each_device_of_the_kernel_must_be_opened) {
    HostFacts host = healthy();
    host.kernel_devices.push_back("rxe1");
    expect_only(bad(host), Verdict::wrong, "libibverbs does not list rxe1", "ibv_devinfo -d rxe1");
    host.verbs_devices.push_back("rxe1");
    expect_only(bad(host), Verdict::wrong, "libibverbs cannot open rxe1", "ibv_devinfo -d rxe1");
    host.missing_nodes["rxe1"] = "/dev/infiniband/uverbs1";
    expect_only(bad(host), Verdict::wrong,
                "rxe1 cannot be opened: /dev/infiniband/uverbs1 is missing", "container");
}

TEST(Doctor, a_port_needs_an_interface_of_this_network_namespace) {
    HostFacts host = healthy();
    host.netdevs.pop_back();
    expect_only(bad(host), Verdict::wrong, "rxe0 port 1 is on eth0, which is in another",
                "nsenter");
    // An interface of the container above that of the host.
    host.netdevs.push_back(
        {.name = "macvlan0", .is_up = true, .is_ethernet = true, .addresses = {"192.0.2.1"}});
    EXPECT_TRUE(bad(host).empty());
    host.netdevs.clear();  // unknown
    EXPECT_TRUE(bad(host).empty());
}

TEST(Doctor, a_port_needs_an_ethernet_address) {
    HostFacts host = healthy();
    host.netdevs[1].name = host.ports[0].netdev = "wg0";
    host.netdevs[1].is_ethernet = false;
    host.netdevs.push_back({.name = "eth1", .is_up = true, .is_ethernet = true});
    expect_only(bad(host), Verdict::wrong, "rxe0 port 1 is on wg0, which has no Ethernet address",
                "rdma link delete rxe0 && sudo rdma link add rxe0 type rxe netdev eth1");
    // One that serves only this host is no mistake.
    host.netdevs[1].is_loopback = true;
    EXPECT_TRUE(bad(host).empty());
}

TEST(Doctor, a_gid_must_be_the_address_of_an_interface) {
    HostFacts host = healthy();
    host.ports[0].gids.push_back(gid("::ffff:192.0.2.77", 2));
    expect_only(bad(host), Verdict::advice,
                "GID index 2 of rxe0 port 1, 192.0.2.77, is the address",
                "ip addr add 192.0.2.77/24 dev eth0");
    expect_only(bad(host, "192.0.2.77"), Verdict::wrong, "is the address of no interface",
                "or another GID index");
    EXPECT_TRUE(bad(host, "192.0.2.1").empty());
    host.ports[0].gids = {gid("::ffff:192.0.2.77", 2)};
    expect_only(bad(host), Verdict::wrong, "is the address of no interface", "ip addr add");
    // The kernel makes the first GID of the Ethernet address; the interface may have another one.
    host.ports[0].gids = {gid("fe80::1", 0), gid("::ffff:192.0.2.1", 1)};
    EXPECT_TRUE(bad(host).empty());
}

TEST(Doctor, a_link_local_address_needs_no_scope) {
    EXPECT_TRUE(bad(healthy(), "fe80::1").empty());
    expect_only(bad(healthy(), "fe80::2"), Verdict::wrong, "no RDMA device has a GID for fe80::2",
                "ip addr add fe80::2/64");
}

// The interface that has the address comes first: it may lack a device, or be unfit for one.
TEST(Doctor, an_address_of_an_interface_without_a_device) {
    HostFacts host = healthy();
    host.netdevs.push_back({.name = "eth1",
                            .is_up = true,
                            .is_ethernet = true,
                            .addresses = {"198.51.100.9", "198.51.100.10"}});
    expect_only(bad(host, "198.51.100.9"), Verdict::wrong,
                "198.51.100.9 is the address of eth1, which has no RDMA device",
                "rdma link add rxe1 type rxe netdev eth1");
    host.netdevs.back().below = "eth0";  // a VLAN above the interface that has a device
    expect_only(bad(host, "198.51.100.9"), Verdict::wrong,
                "no RDMA device has a GID for 198.51.100.9", "ip link set eth0 down");
    host.netdevs.back().below = "eth2";
    expect_only(bad(host, "198.51.100.9"), Verdict::wrong, "which has no RDMA device",
                "rdma link add rxe1 type rxe netdev eth2");
    host.netdevs.back() = {.name = "wg0", .is_up = true, .addresses = {"198.51.100.9"}};
    expect_only(bad(host, "198.51.100.9"), Verdict::wrong,
                "198.51.100.9 is the address of wg0, which has no Ethernet address",
                "address of an Ethernet interface");
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
