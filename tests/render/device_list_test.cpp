// The devices to capture on, as a table and as JSON: of simulated machines and of this one.
#include "render/device_list.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/pretend_sysfs.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"

namespace device_list_test {

using nlohmann::json;
using render::DeviceList;

class DeviceListing : public testing::Test {
  protected:
    DeviceList list() const {
        return {.interfaces = {{"any", "all interfaces", true, {}},
                               {"eth0", "Ethernet", true, {"192.0.2.1", "fe80::1%eth0"}},
                               {"ens1f0", "Ethernet", false, {}}},
                .rdma_devices = capture::rdma_devices(sysfs_.root()),
                .libpcap_names = {"any", "eth0", "ens1f0"}};
    }

    support::PretendSysfs sysfs_;
};

TEST_F(DeviceListing, says_where_each_devices_packets_can_be_seen) {
    sysfs_.add("mlx5_0", {.driver = "mlx5_core", .device_netdev = "ens1f0"});
    sysfs_.add("rxe0", {.states = {"1: DOWN"}, .parent = "eth0"});
    DeviceList without_sniffing = list();
    std::erase_if(without_sniffing.interfaces, [](const auto& i) { return i.name == "any"; });
    EXPECT_EQ(without_sniffing.text(), R"(eth0    up      Ethernet          192.0.2.1, fe80::1%eth0
ens1f0  down    Ethernet
        RoCE that mlx5_0 handles in hardware does not appear here
mlx5_0  active  RDMA, mlx5_core   of ens1f0: capture with '-i mlx5_0', but this libpcap has no RDMA
                                  sniffing
rxe0    down    RDMA in software  of eth0: capture with '-i eth0'
)");
    DeviceList with_sniffing = list();
    with_sniffing.libpcap_names.insert("mlx5_0");
    EXPECT_NE(with_sniffing.text().find("  of ens1f0: capture with '-i mlx5_0'\n"),
              std::string::npos)
        << with_sniffing.text();
}

TEST_F(DeviceListing, is_at_most_100_columns_wide) {
    for (int i = 0; i < 8; ++i)
        sysfs_.add("mlx5_bond_" + std::to_string(i),
                   {.driver = "mlx5_core",
                    .gid_netdevs = {"enp129s0f0np0.100", "enp129s0f0np0.200", "bond0"},
                    .device_netdev = "enp129s0f0np0"});
    DeviceList wide = list();
    wide.interfaces[1].addresses.assign(9, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff");
    std::istringstream lines(wide.text());
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        EXPECT_LE(line.size(), 100U) << line;
    EXPECT_GT(count, 20);
}

TEST_F(DeviceListing, is_an_object_a_line_for_programs) {
    sysfs_.add("mlx5_0", {.driver = "mlx5_core", .device_netdev = "ens1f0"});
    sysfs_.add("rxe0", {.parent = "eth0"});
    std::istringstream lines(list().json());
    std::vector<json> objects;
    for (std::string line; std::getline(lines, line);)
        objects.push_back(json::parse(line));
    ASSERT_EQ(objects.size(), 5U);
    EXPECT_EQ(objects[1]["addresses"], json({"192.0.2.1", "fe80::1%eth0"}));
    EXPECT_EQ(objects[1]["offloaded_to"], json::array());
    EXPECT_EQ(objects[2]["offloaded_to"], json({"mlx5_0"}));
    EXPECT_EQ(objects[2]["up"], false);
    EXPECT_EQ(objects[3]["type"], "rdma_device");
    EXPECT_EQ(objects[3]["roce_offloaded"], true);
    EXPECT_EQ(objects[3]["sniffable"], false);
    EXPECT_EQ(objects[4]["driver"], nullptr);
    EXPECT_EQ(objects[4]["netdevs"], json({"eth0"}));
}

TEST(DeviceListCommand, names_the_loopback_interface_of_this_machine) {
    const auto outcome = support::run({support::rocecap(), "live", "--list", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    std::istringstream lines(outcome.out);
    int loopbacks = 0;
    for (std::string line; std::getline(lines, line);) {
        const json object = json::parse(line);
        if (object["name"] != "lo")
            continue;
        ++loopbacks;
        EXPECT_EQ(object["kind"], "loopback");
        EXPECT_EQ(object["up"], true);
        EXPECT_EQ(object["addresses"][0], "127.0.0.1");
    }
    EXPECT_EQ(loopbacks, 1) << outcome.all();
}

}  // namespace device_list_test
