// For any input, the decoder does not read past the end, and reports where it stopped and why.
#include <random>

#include <gtest/gtest.h>

#include "wire/packet_invariants.hpp"
#include "wire/sample_set.hpp"

namespace robustness_test {

constexpr wire::LinkType links[] = {wire::LinkType::Ethernet, wire::LinkType::LinuxCooked,
                                    wire::LinkType::LinuxCooked2, wire::LinkType::RawIp};

TEST(Robustness, every_prefix_of_a_packet_is_cut_by_the_snap_length) {
    for (const auto& [link, frame] : wire_test::sample_set())
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, link, frame.size());
            EXPECT_EQ(wire_test::broken_invariant(packet, copy), "");
            EXPECT_TRUE(packet.truncated) << size << " of " << frame.size();
            EXPECT_FALSE(packet.malformed) << packet.malformed->text();
        }
}

// A frame that ends too early is cut before the capture if it has a network header, whose length
// shows it. Without a network header, it is malformed.
TEST(Robustness, every_prefix_that_was_all_there_was_is_sliced_or_malformed) {
    for (const auto& [link, frame] : wire_test::sample_set())
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, link);
            EXPECT_EQ(wire_test::broken_invariant(packet, copy), "");
            const bool has_length = packet.ipv4 || packet.ipv6 || packet.grh;
            EXPECT_EQ(packet.truncated.has_value(), has_length) << size << " of " << frame.size();
            EXPECT_EQ(packet.malformed.has_value(), !has_length) << size << " of " << frame.size();
        }
}

TEST(Robustness, changed_bytes_are_decoded_as_far_as_they_go) {
    std::mt19937 random(8);  // NOLINT(cert-msc51-cpp): the same changes in every run
    const auto all = wire_test::sample_set();
    for (int i = 0; i < 30'000; ++i) {
        auto [link, frame] = all[random() % all.size()];
        for (unsigned changes = random() % 8; changes > 0; --changes)
            frame[random() % std::min<std::size_t>(frame.size(), 80)] =
                static_cast<std::byte>(random());
        const std::size_t size = random() % 4 == 0 ? random() % frame.size() : frame.size();
        const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
        EXPECT_EQ(wire_test::broken_invariant(wire::decode(copy, link, size + random() % 3), copy),
                  "");
    }
}

TEST(Robustness, noise_is_decoded_as_far_as_it_goes) {
    std::mt19937 random(9);  // NOLINT(cert-msc51-cpp): the same noise in every run
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::byte> noise(random() % 120);
        for (std::byte& byte : noise)
            byte = static_cast<std::byte>(random());
        const wire_test::ExactCopy copy(noise);
        EXPECT_EQ(wire_test::broken_invariant(
                      wire::decode(copy, links[random() % std::size(links)]), copy),
                  "");
    }
}

}  // namespace robustness_test
