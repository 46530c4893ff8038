// The sender's own check, which no caller can bypass. tests/lab/lesson09_test.cpp tests frames that
// are sent.
#include <system_error>
#include <unistd.h>

#include <gtest/gtest.h>

#include "examples/09_forged_packets/raw_sender.hpp"
#include "support/error_text.hpp"
#include "wire/encode.hpp"

namespace lesson09_raw_sender_test {

bool may_open() {
    return support::error_text([] { const lesson09::RawSender sender; }).empty();
}

std::vector<std::byte> frame_to(const wire::Ipv4Address& destination) {
    wire::Packet packet;
    packet.ethernet.emplace();
    packet.ipv4.emplace();
    packet.ipv4->src = {{192, 0, 2, 2}};
    packet.ipv4->dst = destination;
    packet.bth.emplace();
    packet.bth->opcode = 0x11;
    return wire::encode(packet);
}

TEST(RawSender, sends_nothing_that_leaves_the_lab) {
    if (!may_open())
        GTEST_SKIP() << "raw sockets need root or CAP_NET_RAW";
    lesson09::RawSender sender;
    sender.use("lo");
    EXPECT_NE(support::error_text([&] {
                  sender.send(frame_to({{127, 0, 0, 1}}));
              }).find("192.0.2.2 to 127.0.0.1 is not between the lab's addresses"),
              std::string::npos);
    EXPECT_NE(support::error_text([&] {
                  sender.send(std::vector<std::byte>(60));
              }).find("not an untagged RoCEv2 or ESP packet"),
              std::string::npos);
    // A frame between addresses of the lab is sent. Here it has no receiver.
    EXPECT_NO_THROW(sender.send(frame_to({{192, 0, 2, 1}})));
}

TEST(RawSender, names_an_interface_that_is_not_there) {
    if (!may_open())
        GTEST_SKIP() << "raw sockets need root or CAP_NET_RAW";
    lesson09::RawSender sender;
    try {
        sender.use("nowhere0");
        FAIL() << "took it";
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find("nowhere0"), std::string::npos);
    }
}

}  // namespace lesson09_raw_sender_test
