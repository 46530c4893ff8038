#include "wire/reseal.hpp"

#include <gtest/gtest.h>

#include "wire/encode.hpp"
#include "wire/sample_frames.hpp"

namespace reseal_test {

using wire_test::Network;

std::vector<std::byte> frame_of(Network network, std::size_t payload = 40) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, payload));
}

void reseal(std::vector<std::byte>& frame, wire::IcrcAfter icrc) {
    wire::reseal(frame, wire::decode(frame, wire::LinkType::Ethernet).trail, icrc);
}

// The encoder computes the same values independently, from the fields instead of the bytes.
TEST(Reseal, finds_what_the_encoder_has_written) {
    for (const Network network : {Network::Ipv4, Network::Ipv6, Network::Grh})
        for (const std::size_t payload : {0U, 1U, 40U, 1000U}) {
            const auto original = frame_of(network, payload);
            auto frame = original;
            frame.back() = ~frame.back();
            if (network == Network::Ipv4)
                frame[24] = ~frame[24];
            reseal(frame, wire::IcrcAfter::Good);
            EXPECT_EQ(frame, original);
        }
}

TEST(Reseal, leaves_the_icrc_where_it_is_to_be_wrong) {
    auto frame = frame_of(Network::Ipv4);
    frame.back() = ~frame.back();
    reseal(frame, wire::IcrcAfter::Left);
    EXPECT_EQ(wire::decode(frame, wire::LinkType::Ethernet).icrc->status, wire::IcrcStatus::Bad);
}

TEST(Reseal, gives_no_checksum_to_a_datagram_without_one) {
    auto frame = frame_of(Network::Ipv4);
    frame[40] = frame[41] = std::byte{0};
    frame[60] = ~frame[60];
    reseal(frame, wire::IcrcAfter::Good);
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    EXPECT_EQ(packet.udp->checksum, 0);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
}

TEST(Reseal, leaves_a_udp_checksum_whose_length_field_is_below_its_header) {
    auto frame = frame_of(Network::Ipv4);
    frame[38] = std::byte{0};
    frame[39] = std::byte{4};
    const auto original = frame;
    reseal(frame, wire::IcrcAfter::Good);
    EXPECT_EQ(frame, original);
}

// For a frame cut at any byte, nothing is written outside of it (AddressSanitizer checks this).
TEST(Reseal, stays_within_a_frame_that_breaks_off) {
    const auto whole = frame_of(Network::Ipv4);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::vector<std::byte> frame(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
        frame.shrink_to_fit();
        reseal(frame, wire::IcrcAfter::Good);
        EXPECT_EQ(frame.size(), size);
    }
}

}  // namespace reseal_test
