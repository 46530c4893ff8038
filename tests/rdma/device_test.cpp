// Devices, ports and GIDs of a pretended library.
#include "rdma/device.hpp"

#include <arpa/inet.h>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdma/doctor.hpp"
#include "rdma/pretend_library.hpp"
#include "support/error_text.hpp"
#include "util/sysfs.hpp"

namespace device_test {

using support::error_text;
using Lines = std::vector<std::string>;

ibv_gid_entry entry(std::uint32_t port, std::uint32_t index, const char* text,
                    ibv_gid_type type = IBV_GID_TYPE_ROCE_V2, std::uint32_t netdev = 0) {
    ibv_gid_entry made{};
    EXPECT_EQ(inet_pton(AF_INET6, text, made.gid.raw), 1) << text;
    made.port_num = port;
    made.gid_index = index;
    made.gid_type = type;
    made.ndev_ifindex = netdev;
    return made;
}

util::Address address(const char* text) {
    return *util::Address::parse(text);
}

// Returns "CODE: what" of the system error that the call throws.
template <typename Call>
std::string system_error(Call call) {
    try {
        call();
    } catch (const std::system_error& error) {
        return std::to_string(error.code().value()) + ": " + error.what();
    }
    return "";
}

class Devices : public testing::Test {
  protected:
    // Two ports; the second has no RoCE v2 entry of an IPv4 address.
    rdma_test::PretendDevice& two_ports() {
        rdma_test::PretendDevice& device = library_.add("rxe0");
        device.ports.push_back(device.ports.front());
        device.ports[1].state = IBV_PORT_DOWN;
        device.ports[1].active_mtu = IBV_MTU_512;
        device.gids = {entry(1, 0, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1),
                       entry(1, 1, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2, 1),
                       entry(2, 0, "fe80::1")};
        return device;
    }

    rdma_test::PretendLibrary library_;
};

constexpr const char* table =
    " The GID table has:\n  port 1 index 0: ::ffff:192.0.2.1 (RoCE v1)\n"
    "  port 1 index 1: ::ffff:192.0.2.1 (RoCE v2)\n  port 2 index 0: fe80::1 (RoCE v2)";

TEST_F(Devices, are_listed_by_name) {
    EXPECT_EQ(rdma::device_names(), Lines{});
    library_.add("rxe0");
    library_.add("mlx5_0");
    library_.calls();
    EXPECT_EQ(rdma::device_names(), (Lines{"rxe0", "mlx5_0"}));
    EXPECT_EQ(library_.calls(), (Lines{"ibv_get_device_list()", "ibv_free_device_list()"}));
    library_.has_support = false;
    EXPECT_EQ(rdma::device_names(), Lines{});
}

TEST_F(Devices, are_opened_by_name_and_closed) {
    EXPECT_EQ(error_text([] { rdma::open_device("rxe0"); }),
              "no RDMA device 'rxe0': this host has none. Run 00_hello/devices to find out what is "
              "missing.");
    library_.add("rxe0");
    library_.add("rxe1");
    EXPECT_EQ(error_text([] { rdma::open_device("rxe2"); }),
              "no RDMA device 'rxe2': this host has rxe0, rxe1.");
    library_.calls();
    EXPECT_EQ(rdma::open_device("rxe1").get(), &library_.devices[1]->extended.context);
    EXPECT_EQ(library_.calls(), (Lines{"ibv_get_device_list()", "ibv_open_device(rxe1)",
                                       "ibv_free_device_list()", "ibv_close_device(rxe1)"}));
    library_.failing = "ibv_open_device";
    library_.error = EACCES;
    EXPECT_EQ(system_error([] { rdma::open_device("rxe1"); }),
              "13: ibv_open_device(rxe1): Permission denied");
}

TEST_F(Devices, that_cannot_be_closed_are_reported) {
    library_.add("rxe0");
    library_.failing = "ibv_close_device";
    library_.error = EBUSY;
    testing::internal::CaptureStderr();
    rdma::open_device("rxe0");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "ibv_close_device failed: Device or resource busy\n");
}

TEST_F(Devices, have_the_gids_of_all_ports) {
    ibv_context* context = &two_ports().extended.context;
    const auto gids = rdma::gid_table(context);
    ASSERT_EQ(gids.size(), 3U);
    EXPECT_EQ(gids[1].port, 1);
    EXPECT_EQ(gids[1].index, 1U);
    EXPECT_EQ(gids[1].type, IBV_GID_TYPE_ROCE_V2);
    EXPECT_EQ(gids[1].netdev_index, 1U);
    EXPECT_EQ(gids[1].text(), "::ffff:192.0.2.1");
    EXPECT_EQ(gids[2].port, 2);
    EXPECT_EQ(gids[2].netdev_index, 0U);
}

// The table has room for the entries of each port, even if a port reports a negative length.
TEST_F(Devices, have_as_many_gids_as_the_ports_have_room_for) {
    rdma_test::PretendDevice& device = two_ports();
    device.ports[0].gid_tbl_len = 2;
    device.ports[1].gid_tbl_len = 1;
    EXPECT_EQ(rdma::gid_table(&device.extended.context).size(), 3U);
    device.ports[0].gid_tbl_len = 3;
    device.ports[1].gid_tbl_len = -5;
    EXPECT_EQ(rdma::gid_table(&device.extended.context).size(), 3U);
    device.ports[0].gid_tbl_len = 2;
    device.ports[1].gid_tbl_len = 0;
    EXPECT_EQ(system_error([&] { rdma::gid_table(&device.extended.context); }),
              "22: ibv_query_gid_table: Invalid argument");
}

TEST_F(Devices, whose_tables_cannot_be_read_throw_the_call) {
    ibv_context* context = &two_ports().extended.context;
    library_.error = EIO;
    for (const char* call : {"ibv_query_device", "ibv_query_port", "ibv_query_gid_table"}) {
        library_.failing = call;
        EXPECT_EQ(system_error([&] { rdma::gid_table(context); }),
                  std::string("5: ") + call + ": Input/output error");
    }
}

TEST_F(Devices, are_chosen_by_the_address_of_a_roce_v2_gid) {
    ibv_context* context = &two_ports().extended.context;
    EXPECT_EQ(rdma::choose_gid(context, address("192.0.2.1")).index, 1U);
    EXPECT_EQ(error_text([&] { rdma::choose_gid(context, address("192.0.2.2")); }),
              std::string("rxe0 has no RoCE v2 GID for 192.0.2.2.") + table);
    library_.devices[0]->gids.clear();
    EXPECT_EQ(error_text([&] { rdma::choose_gid(context, address("192.0.2.1")); }),
              "rxe0 has no RoCE v2 GID for 192.0.2.1. The GID table is empty.");
}

TEST_F(Devices, have_a_gid_at_a_port_and_an_index) {
    ibv_context* context = &two_ports().extended.context;
    EXPECT_EQ(rdma::gid_at(context, 2, 0).text(), "fe80::1");
    EXPECT_EQ(rdma::gid_at(context, 1, 0).type, IBV_GID_TYPE_ROCE_V1);
    EXPECT_EQ(error_text([&] { rdma::gid_at(context, 2, 1); }),
              std::string("rxe0 has no GID with index 1.") + table);
    ibv_qp qp{};
    qp.context = context;
    library_.qp_attr.ah_attr.port_num = 1;
    library_.qp_attr.ah_attr.grh.sgid_index = 1;
    EXPECT_EQ(rdma::gid_of(&qp).index, 1U);
    EXPECT_EQ(library_.calls(), Lines{fmt::format("ibv_query_qp({:#x})", +IBV_QP_AV)});
    library_.failing = "ibv_query_qp";
    library_.error = EINVAL;
    EXPECT_EQ(system_error([&] { rdma::gid_of(&qp); }), "22: ibv_query_qp: Invalid argument");
}

TEST_F(Devices, are_found_by_an_address_of_this_host) {
    EXPECT_EQ(error_text([] { rdma::open_device_of(address("192.0.2.1")); }),
              "this host has no RDMA device. Run 00_hello/devices to find out what is missing.");
    library_.add("rxe1").gids = {entry(1, 0, "::ffff:192.0.2.7", IBV_GID_TYPE_ROCE_V1),
                                 entry(1, 1, "::ffff:192.0.2.8")};
    two_ports();
    const auto found = rdma::open_device_of(address("192.0.2.1"));
    EXPECT_EQ(found.context.get(), &library_.devices[1]->extended.context);
    EXPECT_EQ(found.gid.index, 1U);
    EXPECT_EQ(error_text([] { rdma::open_device_of(address("192.0.2.7")); }),
              "no RDMA device here (rxe1, rxe0) has the address 192.0.2.7: connect through an "
              "interface that has one (00_hello/devices lists them).");
}

TEST_F(Devices, are_described_with_the_gid_in_use) {
    ibv_context* context = &two_ports().extended.context;
    const auto gids = rdma::gid_table(context);
    EXPECT_EQ(
        rdma::describe_device(context, 2, nullptr),
        (runlog::Fields{
            {"device", "rxe0"}, {"port", std::uint8_t{2}}, {"state", "DOWN"}, {"path_mtu", 512U}}));
    EXPECT_EQ(rdma::describe_device(context, 1, &gids[1]),
              (runlog::Fields{{"device", "rxe0"},
                              {"port", std::uint8_t{1}},
                              {"state", "ACTIVE"},
                              {"path_mtu", 4096U},
                              {"netdev", "lo"},
                              {"gid_index", 1U},
                              {"gid", "::ffff:192.0.2.1"},
                              {"gid_type", "RoCE v2"}}));
    const runlog::Event without{0, "", "", rdma::describe_device(context, 1, &gids[0])};
    EXPECT_EQ(without.text("netdev"), "");
    EXPECT_EQ(without.text("gid_type"), "RoCE v1");
}

TEST_F(Devices, have_gids_with_an_interface_and_an_address) {
    rdma::Gid gid;
    gid.raw = entry(1, 0, "fe80::1").gid;
    gid.netdev_index = 1;
    EXPECT_EQ(gid.netdev(), "lo");
    EXPECT_EQ(gid.address().host(), "fe80::1%lo");
    gid.raw = entry(1, 0, "2001:db8::1").gid;
    EXPECT_EQ(gid.address().host(), "2001:db8::1");
    gid.raw = entry(1, 0, "::ffff:192.0.2.9").gid;
    EXPECT_EQ(gid.address().host(), "192.0.2.9");
    gid.netdev_index = 0;
    EXPECT_EQ(gid.netdev(), "");
    gid.netdev_index = 0x7fffffff;
    EXPECT_EQ(gid.netdev(), "");
}

TEST_F(Devices, are_facts_of_this_host) {
    two_ports();
    library_.devices[0]->ports[1].link_layer = IBV_LINK_LAYER_INFINIBAND;
    const rdma::HostFacts host = rdma::gather();
    EXPECT_EQ(host.verbs_devices, Lines{"rxe0"});
    ASSERT_EQ(host.ports.size(), 2U);
    EXPECT_EQ(host.ports[0].device, "rxe0");
    EXPECT_EQ(host.ports[0].port, 1);
    EXPECT_EQ(host.ports[0].state, IBV_PORT_ACTIVE);
    EXPECT_TRUE(host.ports[0].is_ethernet);
    EXPECT_EQ(host.ports[0].path_mtu, 4096U);
    EXPECT_EQ(host.ports[0].netdev, "lo");
    EXPECT_EQ(std::to_string(host.ports[0].netdev_mtu), util::first_line("/sys/class/net/lo/mtu"));
    EXPECT_EQ(host.ports[0].netdev_up, util::first_line("/sys/class/net/lo/operstate") == "up");
    ASSERT_EQ(host.ports[0].gids.size(), 2U);
    EXPECT_EQ(host.ports[0].gids[1].index, 1U);
    EXPECT_EQ(host.ports[1].port, 2);
    EXPECT_FALSE(host.ports[1].is_ethernet);
    EXPECT_EQ(host.ports[1].netdev, "");
    EXPECT_EQ(host.ports[1].netdev_mtu, 0U);
    ASSERT_EQ(host.ports[1].gids.size(), 1U);
    EXPECT_EQ(host.ports[1].gids[0].text(), "fe80::1");
}

TEST_F(Devices, that_cannot_be_opened_or_queried_have_no_ports) {
    two_ports();
    library_.error = EACCES;
    for (const char* call : {"ibv_open_device", "ibv_query_gid_table", "ibv_query_device"}) {
        library_.failing = call;
        const rdma::HostFacts host = rdma::gather();
        EXPECT_EQ(host.verbs_devices, Lines{"rxe0"}) << call;
        EXPECT_TRUE(host.ports.empty()) << call;
    }
}

}  // namespace device_test
