// How the kernel's RDMA devices affect a capture.
#include "capture/rdma_devices.hpp"

#include <gtest/gtest.h>

#include "capture/live_source.hpp"
#include "support/pretend_sysfs.hpp"
#include "util/error.hpp"

namespace {

using capture::offload_warning;
using capture::rdma_devices;

using Names = std::vector<std::string>;

class RdmaDevices : public testing::Test {
  protected:
    std::vector<capture::RdmaDevice> found() const { return rdma_devices(sysfs_.root()); }
    capture::RdmaDevice only() const {
        const auto devices = found();
        EXPECT_EQ(devices.size(), 1U);
        return devices.at(0);
    }

    support::PretendSysfs sysfs_;
};

TEST_F(RdmaDevices, there_may_be_none) {
    EXPECT_TRUE(found().empty());
}

TEST_F(RdmaDevices, a_network_card_has_a_driver_and_its_interfaces) {
    sysfs_.add("mlx5_0", {.driver = "mlx5_core",
                          .gid_netdevs = {"ens1f0", "ens1f0", "ens1f0.100", ""},
                          .device_netdev = "ens1f0"});
    const auto device = only();
    EXPECT_EQ(device.name, "mlx5_0");
    EXPECT_EQ(device.driver, "mlx5_core");
    EXPECT_EQ(device.state, "ACTIVE");
    EXPECT_EQ(device.node_guid, "5054:00ff:fe12:3456");
    EXPECT_EQ(device.netdevs, (Names{"ens1f0", "ens1f0.100"}));
    EXPECT_TRUE(device.offloads_roce());
}

TEST_F(RdmaDevices, one_active_port_is_enough_and_none_is_the_first_ones_state) {
    sysfs_.add("mlx5_0", {.driver = "mlx5_core", .states = {"1: DOWN", "4: ACTIVE"}});
    sysfs_.add("mlx5_1", {.driver = "mlx5_core", .states = {"1: DOWN", "2: INIT"}});
    EXPECT_EQ(found().at(0).state, "ACTIVE");
    EXPECT_EQ(found().at(1).state, "DOWN");
}

TEST_F(RdmaDevices, soft_roce_offloads_nothing) {
    sysfs_.add("rxe0", {.gid_netdevs = {"eth0"}, .parent = "eth0"});
    EXPECT_TRUE(only().is_software());
    EXPECT_FALSE(only().offloads_roce());
    EXPECT_EQ(only().netdevs, Names{"eth0"});
    EXPECT_FALSE(offload_warning(found(), "eth0"));
}

// In Linux 5.10 and earlier, rxe0/device is the network adapter.
TEST_F(RdmaDevices, soft_roce_over_a_network_card_is_still_software) {
    sysfs_.add("rxe0", {.driver = "mlx5_core", .device_netdev = "ens1f0", .parent = "ens1f0"});
    sysfs_.add("siw0", {.driver = "mlx5_core", .node_type = "4: RNIC", .device_netdev = "ens1f0"});
    EXPECT_TRUE(found().at(0).is_software());
    EXPECT_FALSE(offload_warning(found(), "ens1f0"));
}

TEST_F(RdmaDevices, an_interface_whose_roce_is_handled_in_hardware_is_warned_of) {
    sysfs_.add("mlx5_0", {.driver = "mlx5_core", .device_netdev = "ens1f0"});
    sysfs_.add("mlx5_1", {.driver = "mlx5_core", .device_netdev = "ens1f1"});
    EXPECT_EQ(offload_warning(found(), "ens1f1"),
              "RoCE that mlx5_1 handles in hardware does not appear on ens1f1: try '-i mlx5_1'.");
    EXPECT_EQ(
        offload_warning(found(), "any"),
        "RoCE that mlx5_0, mlx5_1 handles in hardware does not appear on any: try '-i mlx5_0'.");
    EXPECT_FALSE(offload_warning(found(), "eth0"));
    EXPECT_FALSE(offload_warning(found(), "mlx5_0"));
}

TEST_F(RdmaDevices, infiniband_and_iwarp_are_no_roce) {
    sysfs_.add("mlx5_0",
               {.driver = "mlx5_core", .link_layer = "InfiniBand", .device_netdev = "ib0"});
    sysfs_.add("cxgb4_0", {.driver = "cxgb4", .node_type = "4: RNIC", .device_netdev = "eth4"});
    EXPECT_TRUE(capture::offloading(found(), "any").empty());
}

// The libpcap of Debian 12 has no RDMA sniffing.
TEST_F(RdmaDevices, one_that_libpcap_cannot_open_is_a_sentence_with_ways_out) {
    sysfs_.add("mlx5_77", {.driver = "mlx5_core", .device_netdev = "ens1f0"});
    sysfs_.add("rxe77", {.parent = "eth0"});
    const auto refusal = [&](const std::string& interface) -> std::string {
        try {
            const capture::LiveSource source(
                {.interface = interface, .filter = {}, .rdma_devices = found()});
        } catch (const util::Error& error) {
            return error.what();
        }
        return "none";
    };
    const std::string sentence =
        "cannot capture on the RDMA device mlx5_77: this libpcap has no RDMA sniffing. Use a "
        "libpcap built with it (--enable-rdma), capture on the other host, or mirror the switch's "
        "port.";
    EXPECT_EQ(refusal("mlx5_77"), sentence);
    EXPECT_EQ(refusal("mlx5_77:2"), sentence) << "its second port";
    EXPECT_EQ(refusal("rxe77"),
              "rxe77 is an RDMA device, and its packets pass eth0: try '-i eth0'.");
    EXPECT_EQ(refusal("mlx5_78").rfind("there is no interface 'mlx5_78' here", 0), 0U);
}

}  // namespace
