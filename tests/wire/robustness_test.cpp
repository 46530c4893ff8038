// Whatever bytes come, decoding reads none behind their end, and says how far it got and why.
#include <random>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace {

constexpr wire::LinkType links[] = {wire::LinkType::Ethernet, wire::LinkType::LinuxCooked,
                                    wire::LinkType::LinuxCooked2, wire::LinkType::RawIp};

void expect_inside(util::Bytes part, util::Bytes whole) {
    if (part.empty())
        return;
    EXPECT_GE(part.data(), whole.data());
    EXPECT_LE(part.data() + part.size(), whole.data() + whole.size());
}

void expect_consistent(const wire::Packet& packet, util::Bytes frame) {
    if (packet.is_complete()) {
        EXPECT_TRUE(packet.icrc);
        EXPECT_EQ(packet.payload.size(), packet.payload_length);
    } else {
        EXPECT_TRUE(packet.truncated || packet.malformed || packet.not_roce);
    }
    EXPECT_FALSE(packet.not_roce && (packet.malformed || packet.truncated || packet.bth));
    EXPECT_EQ(packet.ipv4.has_value() + packet.ipv6.has_value() + packet.grh.has_value(),
              packet.bth ? 1 : packet.ipv4 || packet.ipv6 || packet.grh);
    EXPECT_TRUE(!packet.icrc || packet.bth);
    EXPECT_TRUE(!packet.icrc || packet.icrc->computed.has_value() ==
                                    (packet.icrc->status != wire::IcrcStatus::Unchecked));
    EXPECT_TRUE(!packet.opcode || packet.bth);
    EXPECT_TRUE(!packet.cm || packet.mad);
    expect_inside(packet.payload, frame);
    if (packet.cm) {
        const auto* reject = packet.cm->as<wire::CmRej>();
        const auto* request = packet.cm->as<wire::CmReq>();
        expect_inside(reject ? reject->ari : util::Bytes{}, packet.payload);
        expect_inside(request ? request->private_data : util::Bytes{}, packet.payload);
    }
    EXPECT_FALSE(packet.malformed && packet.malformed->text().empty());
    EXPECT_FALSE(packet.truncated && !packet.truncated->text().starts_with("truncated by"));
}

struct Sample {
    wire::LinkType link;
    std::vector<std::byte> frame;
};

// The IP packet of an untagged Ethernet frame behind another link header.
Sample behind(wire::LinkType link, std::string_view header,
              const std::vector<std::byte>& ethernet) {
    Sample sample{link, wire_test::from_hex(header)};
    sample.frame.insert(sample.frame.end(), ethernet.begin() + wire::Ethernet::size,
                        ethernet.end());
    return sample;
}

std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (const wire::OpcodeInfo& opcode : wire::opcodes())
        for (const auto network : wire_test::all_networks) {
            auto packet = wire_test::sample_packet(opcode, network, 7);
            packet.vlans.count = static_cast<std::uint8_t>(all.size() % 3);
            all.push_back({wire::LinkType::Ethernet, wire::encode(packet)});
        }
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same frames in every run
    std::vector<std::byte> data(wire::Mad::data_size);
    for (unsigned attribute = 0x10; attribute < 0x1b; ++attribute) {
        for (std::byte& byte : data)
            byte = static_cast<std::byte>(random());
        const auto mad = wire_test::cm_mad(static_cast<wire::CmAttribute>(attribute), data);
        const auto frame = wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
        all.push_back({wire::LinkType::Ethernet, frame});
        all.push_back(behind(wire::LinkType::RawIp, "", frame));
        all.push_back(
            behind(wire::LinkType::LinuxCooked, "0000 0001 0006 525400000202 0000 0800", frame));
        all.push_back(behind(wire::LinkType::LinuxCooked2,
                             "0800 0000 00000002 0001 00 06 525400000202 0000", frame));
    }
    return all;
}

TEST(Robustness, every_prefix_of_a_packet_is_cut_by_the_snap_length) {
    for (const auto& [link, frame] : samples())
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, link, frame.size());
            expect_consistent(packet, copy);
            EXPECT_TRUE(packet.truncated) << size << " of " << frame.size();
            EXPECT_FALSE(packet.malformed) << packet.malformed->text();
        }
}

TEST(Robustness, every_prefix_that_was_all_there_was_is_malformed) {
    for (const auto& [link, frame] : samples())
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, link);
            expect_consistent(packet, copy);
            EXPECT_TRUE(packet.malformed) << size << " of " << frame.size();
        }
}

TEST(Robustness, changed_bytes_are_decoded_as_far_as_they_go) {
    std::mt19937 random(8);  // NOLINT(cert-msc51-cpp): the same changes in every run
    const auto all = samples();
    for (int i = 0; i < 30'000; ++i) {
        auto [link, frame] = all[random() % all.size()];
        for (unsigned changes = random() % 8; changes > 0; --changes)
            frame[random() % std::min<std::size_t>(frame.size(), 80)] =
                static_cast<std::byte>(random());
        const std::size_t size = random() % 4 == 0 ? random() % frame.size() : frame.size();
        const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
        expect_consistent(wire::decode(copy, link, size + random() % 3), copy);
    }
}

TEST(Robustness, noise_is_decoded_as_far_as_it_goes) {
    std::mt19937 random(9);  // NOLINT(cert-msc51-cpp): the same noise in every run
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::byte> noise(random() % 120);
        for (std::byte& byte : noise)
            byte = static_cast<std::byte>(random());
        const wire_test::ExactCopy copy(noise);
        expect_consistent(wire::decode(copy, links[random() % std::size(links)]), copy);
    }
}

}  // namespace
