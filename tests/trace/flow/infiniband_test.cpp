// Connections over native InfiniBand: hosts are LIDs, or GIDs if there is a GRH.
#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"
#include "wire/infiniband_frames.hpp"

namespace flow_infiniband_test {

using flow::Host;
using flow::Network;
using flow_test::Way;

TEST(FlowHost, of_a_lid_is_no_address) {
    const Host host = Host::of_lid(5);
    EXPECT_TRUE(host.is_lid());
    EXPECT_TRUE(Host::of_lid(0xffff).is_lid());
    EXPECT_FALSE(host.is_ipv4());
    EXPECT_EQ(flow::text(host), "LID 5");
    EXPECT_EQ(flow::text(host, Network::Lid), "LID 5");
    EXPECT_FALSE(flow::host_of_gid("::5")->is_lid());
    EXPECT_FALSE(flow::host_of_gid("ff02::5")->is_lid());
    EXPECT_NE(Host::of_lid(5), *flow::host_of_gid("::5"));
}

class InfinibandFlow : public testing::Test {
  protected:
    // LID 1 connects to LID 2, sends, and gets acknowledgements.
    void exchange(bool has_grh) {
        add_mad(flow_test::connect_request({.comm_id = 1, .qpn = 0x11, .psn = 0}, 1), 1, 2,
                has_grh);
        add_mad(flow_test::connect_reply({.comm_id = 2, .qpn = 0x22, .psn = 100}, 1), 2, 1,
                has_grh);
        for (std::uint32_t psn = 100; psn < 110; ++psn) {
            auto request = flow_test::packet(way(1, 2, 0x22), flow_test::opcode::send_only, psn, 8);
            request.bth->a = true;
            add(request, 1, 2, has_grh);
            add(flow_test::answer(way(2, 1, 0x11), psn), 2, 1, has_grh);
        }
    }

    /// Returns all conversations except those of the connection manager.
    std::vector<flow::Conversation> connections() const {
        std::vector<flow::Conversation> all;
        tracker_.for_each([&](const flow::Conversation& one) {
            if (one.forward.dest_qpn != wire::gsi_qpn)
                all.push_back(one);
        });
        return all;
    }

  private:
    static Way way(std::uint8_t from, std::uint8_t to, std::uint32_t qpn) {
        return {.from = from, .to = to, .qpn = qpn, .network = wire_test::Network::Grh};
    }
    void add_mad(const std::vector<std::byte>& mad, std::uint8_t from, std::uint8_t to,
                 bool has_grh) {
        auto packet = flow_test::datagram(way(from, to, wire::gsi_qpn), wire::gsi_qpn, 7);
        packet.payload = mad;
        add(packet, from, to, has_grh);
    }
    void add(const wire::Packet& packet, std::uint16_t from, std::uint16_t to, bool has_grh) {
        const auto frame = wire::encode(packet);
        const auto roce = wire::decode(frame, wire::LinkType::Ethernet);
        const auto native = wire_test::native_packet(wire_test::transport_of(roce, frame),
                                                     has_grh ? packet.grh : std::nullopt,
                                                     {.slid = from, .dlid = to});
        tracker_.add(std::chrono::nanoseconds(++now_),
                     wire::decode(native, wire::LinkType::Infiniband), native.size());
    }

    flow::Tracker tracker_{{.streams = 64}};
    std::int64_t now_ = 1'000'000'000;
};

TEST_F(InfinibandFlow, hosts_without_a_grh_are_their_lids) {
    exchange(false);
    const auto all = connections();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].network, Network::Lid);
    EXPECT_EQ(all[0].forward.packets, 10U);
    EXPECT_EQ(all[0].forward.requests.ack.count, 10U);
}

TEST_F(InfinibandFlow, hosts_with_a_grh_are_their_gids) {
    exchange(true);
    exchange(false);
    const auto all = connections();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].network, Network::Grh);
    EXPECT_EQ(all[1].network, Network::Lid);
}

}  // namespace flow_infiniband_test
