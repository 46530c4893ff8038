// The TCP header after each link header.
#include "wire/tcp.hpp"

#include <string>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace tcp_test {

using wire::LinkType;

// Returns a segment with 12 bytes of options and 3 bytes of payload.
std::vector<std::byte> behind(std::string_view link) {
    return wire_test::from_hex(std::string(link) +
                               " 4500 0037 00000000 4006 0000 c0000202 c0000201 "
                               "9c40 4853 00000001 00000000 8018 1000 0000 0000 "
                               "0101080a 00000001 00000002 474554 000000");
}

TEST(Tcp, is_found_behind_every_link_header_and_its_tags) {
    const std::pair<LinkType, std::string_view> links[] = {
        {LinkType::RawIp, ""},
        {LinkType::Ethernet, "020000000001 020000000002 0800"},
        {LinkType::Ethernet, "020000000001 020000000002 8100 0005 0800"},
        {LinkType::LinuxCooked, "0000 0001 0006 525400000202 0000 0800"},
        {LinkType::LinuxCooked, "0000 0001 0006 525400000202 0000 8100 0005 0800"},
        {LinkType::LinuxCooked2, "8100 0000 00000002 0001 00 06 525400000202 0000 0005 0800"},
    };
    for (const auto& [link, header] : links) {
        const auto frame = behind(header);
        const auto segment = wire::tcp_segment(wire::decode(frame, link), frame);
        ASSERT_TRUE(segment) << header;
        EXPECT_EQ(segment->src_port, 40000) << header;
        EXPECT_EQ(segment->dst_port, 18515) << header;
        EXPECT_EQ(segment->header_length, 32U) << header;
        EXPECT_EQ(segment->payload_length, 3U) << header;
        EXPECT_EQ(segment->payload.size(), 3U) << header;
    }
}

}  // namespace tcp_test
