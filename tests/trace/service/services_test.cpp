#include "trace/service/services.hpp"

#include <gtest/gtest.h>

#include "trace/service/capsules.hpp"

namespace services_test {

using namespace service_test;

constexpr std::string_view response = nvme_response;

std::string seen(service::Services& services, const std::vector<std::byte>& frame) {
    const wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
    std::string text;
    upper::append_text(text, services.see(packet));
    return text;
}

void connect(service::Services& services, std::string_view service_id,
             std::string_view private_data) {
    seen(services, request(service_id, private_data));
    seen(services, reply(""));
}

TEST(Services, a_connection_carries_what_was_asked_for) {
    service::Services services;
    EXPECT_EQ(seen(services, request(nvme_service, "0000 0000 2000 1f00 0000")),
              "NVMe queue 0 host receive queue 32 send queue 31");
    EXPECT_EQ(seen(services, reply("0000 2000")), "NVMe controller receive queue 32");
    EXPECT_TRUE(seen(services, send(read_command, false)).starts_with("NVMe Get Log Page"));
    EXPECT_TRUE(seen(services, send(response, true)).starts_with("NVMe response"));
}

TEST(Services, the_queue_is_the_requests) {
    service::Services services;
    connect(services, nvme_service, "0000 0100");
    EXPECT_TRUE(seen(services, send(read_command, false)).starts_with("NVMe Read"));
}

TEST(Services, only_a_messages_first_packet_has_its_header) {
    service::Services services;
    connect(services, nvme_service, "0000 0100");
    const auto capsule = wire_test::from_hex(read_command);
    EXPECT_NE(seen(services, send(capsule, false, 0x00)), "");  // First
    EXPECT_EQ(seen(services, send(capsule, false, 0x01)), "");  // Middle
    EXPECT_EQ(seen(services, send(capsule, false, 0x02)), "");  // Last
    EXPECT_NE(seen(services, send(capsule, false, 0x17)), "");  // Only with Invalidate
}

TEST(Services, a_reject_is_the_services_where_it_is_the_consumers) {
    service::Services services;
    seen(services, request(nvme_service, ""));
    EXPECT_EQ(seen(services, reject("001c", "0000 0400")),
              "NVMe reject status 4 (Invalid HSQSIZE)");
    EXPECT_EQ(seen(services, reject("0008", "0000 0400")), "");  // Invalid Service ID
}

TEST(Services, another_service_says_nothing) {
    service::Services services;
    connect(services, "0000000001 06 4853", "0000 0100");
    EXPECT_EQ(seen(services, send(read_command, false)), "");
}

TEST(Services, a_queue_pair_that_is_connected_again_carries_the_new_service) {
    service::Services services;
    connect(services, nvme_service, "0000 0100");
    connect(services, "0000000001 06 4853", "");
    EXPECT_EQ(seen(services, send(read_command, false)), "");
}

TEST(Services, a_user_can_name_the_service_of_a_port) {
    service::Services services(
        {.by_port = {{0x4853, {.service = upper::Service::Nvme}}}, .by_qpn = {}});
    connect(services, "0000000001 06 4853", "0000 0100");
    EXPECT_TRUE(seen(services, send(read_command, false)).starts_with("NVMe Read"));
}

TEST(Services, a_user_can_name_the_service_of_a_queue_pair) {
    service::Services services(
        {.by_port = {}, .by_qpn = {{passive_qpn, {.service = upper::Service::Nvme}}}});
    EXPECT_TRUE(seen(services, send(read_command, false)).starts_with("NVMe Read"));
    EXPECT_EQ(seen(services, send(response, true)), "");
}

TEST(Services, many_connections_are_known_at_once) {
    service::Services services;
    const auto with_qpn = [](std::vector<std::byte> frame, std::size_t at, unsigned qpn) {
        frame.at(at) = static_cast<std::byte>(qpn >> 8);
        frame.at(at + 1) = static_cast<std::byte>(qpn);
        return frame;
    };
    // Offsets of the queue pair numbers in the ConnectReply and in the BTH. Header sizes: Ethernet
    // 14, IPv4 20, UDP 8, BTH 12, DETH 8, MAD 24.
    constexpr std::size_t replys = 14 + 20 + 8 + 12 + 8 + 24 + 13;
    constexpr std::size_t bths = 14 + 20 + 8 + 6;
    constexpr unsigned connections = 1000;
    for (unsigned i = 0; i < connections; ++i) {
        seen(services, request(nvme_service, "0000 0100"));
        seen(services, with_qpn(reply(""), replys, 0x100 + i));
    }
    for (unsigned i = 0; i < connections; ++i)
        EXPECT_NE(seen(services, with_qpn(send(read_command, false), bths, 0x100 + i)), "") << i;
}

}  // namespace services_test
