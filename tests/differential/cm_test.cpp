// The connection manager's messages with random content, compared with tshark's fields.
#include <random>

#include <gtest/gtest.h>

#include "differential/made_capture.hpp"
#include "wire/sample_frames.hpp"

namespace {

using differential::MadeCapture;

constexpr wire::CmAttribute attributes[] = {
    wire::CmAttribute::ConnectRequest,    wire::CmAttribute::MsgRcptAck,
    wire::CmAttribute::ConnectReject,     wire::CmAttribute::ConnectReply,
    wire::CmAttribute::ReadyToUse,        wire::CmAttribute::DisconnectRequest,
    wire::CmAttribute::DisconnectReply,   wire::CmAttribute::ServiceIdResReq,
    wire::CmAttribute::LoadAlternatePath, wire::CmAttribute::AlternatePathResponse};

using Random = std::mt19937_64;

std::vector<std::byte> any_data(Random& random) {
    std::vector<std::byte> data(wire::Mad::data_size);
    for (std::byte& byte : data)
        byte = static_cast<std::byte>(random());
    return data;
}

TEST(ConnectionManager, any_content_of_any_message_is_what_tshark_sees) {
    MadeCapture capture("cm");
    Random random(2);  // NOLINT(cert-msc51-cpp): the same packets in every run
    for (const auto attribute : attributes)
        for (const auto network : wire_test::all_networks)
            for (int i = 0; i < 20; ++i) {
                const auto mad = wire_test::cm_mad(attribute, any_data(random));
                capture.add(wire_test::cm_packet(mad, network));
            }
    capture.compare();
}

// Offsets in a ConnectRequest's data (IBTA volume 1, 12.6.5) and in the IP CM header (annex A11).
constexpr std::size_t service_id_at = 8;
constexpr std::size_t local_gid_at = 56;
constexpr std::size_t remote_gid_at = 72;
constexpr std::size_t private_data_at = 140;

void put(std::vector<std::byte>& data, std::size_t at, std::string_view hex) {
    const auto bytes = wire_test::from_hex(hex);
    std::copy(bytes.begin(), bytes.end(), data.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(ConnectionManager, a_request_of_rdma_cm_is_what_tshark_sees) {
    MadeCapture capture("rdma_cm");
    Random random(3);  // NOLINT(cert-msc51-cpp): the same packets in every run
    for (const std::string_view ip_version : {"40", "60"})
        for (int i = 0; i < 50; ++i) {
            auto data = any_data(random);
            put(data, service_id_at, "0000 0000 0106 4853");  // TCP's port space, port 18515
            if (ip_version == "40") {
                put(data, local_gid_at, "0000 0000 0000 0000 0000 ffff c000 0202");
                put(data, remote_gid_at, "0000 0000 0000 0000 0000 ffff c000 0201");
                put(data, private_data_at + 4, "0000 0000 0000 0000 0000 0000 c000 0202");
                put(data, private_data_at + 20, "0000 0000 0000 0000 0000 0000 c000 0201");
            }
            put(data, private_data_at, "00");
            put(data, private_data_at + 1, ip_version);
            const auto mad = wire_test::cm_mad(wire::CmAttribute::ConnectRequest, data);
            capture.add(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
        }
    capture.compare();
}

TEST(ConnectionManager, management_of_other_classes_is_what_tshark_sees) {
    MadeCapture capture("mad");
    Random random(4);  // NOLINT(cert-msc51-cpp): the same packets in every run
    for (unsigned mgmt_class = 0x10; mgmt_class < 0x20; ++mgmt_class) {
        auto mad = wire_test::cm_mad(wire::CmAttribute::ConnectRequest, any_data(random));
        const wire::Mad common{.base_version = 1,
                               .mgmt_class = static_cast<std::uint8_t>(mgmt_class),
                               .class_version = static_cast<std::uint8_t>(random()),
                               .method = static_cast<std::uint8_t>(random()),
                               .status = static_cast<std::uint16_t>(random()),
                               .class_specific = static_cast<std::uint16_t>(random()),
                               .transaction_id = random(),
                               .attribute_id = static_cast<std::uint16_t>(random()),
                               .attribute_modifier = static_cast<std::uint32_t>(random())};
        wire::write(common, std::span(mad).first<wire::Mad::size>());
        capture.add(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
    }
    capture.compare();
}

}  // namespace
