// A host's end of the link over TCP, and frames for a host that does not read.
#include "emulator/port.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulator/frames.hpp"
#include "emulator/unix_socket.hpp"
#include "net/tcp.hpp"
#include "support/error_text.hpp"
#include "support/temp_path.hpp"

namespace port_test {

using emulator::Port;
using emulator_test::Bytes;

std::string connect_error(const std::string& address) {
    return support::error_text([&] { Port("h1", address).connect(); });
}

TEST(Port, connects_to_a_host_that_listens_on_tcp) {
    net::TcpListener listener(*util::Address::parse("127.0.0.1"));
    const std::string address = fmt::format("tcp:127.0.0.1:{}", listener.address().port());
    Port port("h1", address);
    EXPECT_FALSE(port.is_connected());
    EXPECT_TRUE(port.connect());
    EXPECT_TRUE(port.is_connected());
    EXPECT_EQ(port.counters().connections, 1U);
    // Nothing has been sent yet: reading must not block.
    EXPECT_TRUE(port.receive([](util::Bytes) { FAIL(); }));
    port.disconnect();
    EXPECT_FALSE(port.is_connected());
    EXPECT_TRUE(port.connect());
    EXPECT_EQ(port.counters().connections, 2U);
}

TEST(Port, is_not_connected_while_nothing_listens) {
    std::string address;
    {
        const net::TcpListener free_port(*util::Address::parse("127.0.0.1"));
        address = fmt::format("tcp:127.0.0.1:{}", free_port.address().port());
    }
    Port port("h1", address);
    EXPECT_FALSE(port.connect());
    EXPECT_FALSE(port.is_connected());
    EXPECT_EQ(port.counters().connections, 0U);
}

TEST(Port, an_invalid_address_is_an_error) {
    for (const std::string text : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:1x",
                                   "127.0.0.1:65536", "localhost:1", ":1", ""})
        EXPECT_EQ(connect_error("tcp:" + text),
                  "'tcp:" + text + "' is not a valid address: write tcp:127.0.0.1:PORT");
}

class PortWithHost : public testing::Test {
  protected:
    PortWithHost() {
        EXPECT_TRUE(port_.connect());
        host_ = util::Fd(accept(listener_.get(), nullptr, nullptr));
    }
    Bytes read_all() {
        Bytes bytes(1 << 20);
        const ssize_t got = recv(host_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    }
    void write(std::string_view hex) {
        const Bytes bytes = wire_test::from_hex(hex);
        ASSERT_EQ(::send(host_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }

    support::TempPath path_{"port"};
    util::Fd listener_ = emulator::listen_unix(path_.str());
    Port port_{"h1", path_.str()};
    util::Fd host_;
};

TEST_F(PortWithHost, a_frame_is_sent_after_its_length) {
    port_.send(wire_test::from_hex("0a0b0c"));
    EXPECT_EQ(port_.backlog(), 7U);
    EXPECT_TRUE(read_all().empty());
    EXPECT_TRUE(port_.flush());
    EXPECT_EQ(port_.backlog(), 0U);
    EXPECT_EQ(read_all(), wire_test::from_hex("00000003 0a0b0c"));
    EXPECT_EQ(port_.counters().frames_out, 1U);
    EXPECT_EQ(port_.counters().bytes_out, 3U);
    EXPECT_EQ(port_.counters().undelivered, 0U);
}

TEST_F(PortWithHost, frames_are_counted_without_their_lengths) {
    const Bytes frame = emulator_test::arp_frame();
    write("0000003c");
    ASSERT_EQ(::send(host_.get(), frame.data(), frame.size(), 0), 60);
    std::vector<Bytes> got;
    EXPECT_TRUE(port_.receive([&](util::Bytes one) { got.emplace_back(one.begin(), one.end()); }));
    EXPECT_EQ(got, std::vector<Bytes>{frame});
    EXPECT_EQ(port_.counters().frames_in, 1U);
    EXPECT_EQ(port_.counters().bytes_in, 60U);
    host_.reset();
    EXPECT_FALSE(port_.receive([](util::Bytes) { FAIL(); }));
}

TEST_F(PortWithHost, too_short_frames_are_counted_when_the_host_leaves) {
    write("00000003 0a0b0c 00000002 0a0b");
    EXPECT_TRUE(port_.receive([](util::Bytes) { FAIL(); }));
    port_.disconnect();
    EXPECT_EQ(port_.counters().too_short, 2U);
    port_.disconnect();
    EXPECT_EQ(port_.counters().too_short, 2U);
}

TEST_F(PortWithHost, frames_for_a_host_that_has_left_are_undelivered) {
    host_.reset();
    port_.send(wire_test::from_hex("0a0b0c"));
    EXPECT_FALSE(port_.flush());
    port_.disconnect();
    EXPECT_EQ(port_.backlog(), 0U);
    EXPECT_EQ(port_.counters().undelivered, 0U);
    port_.send(wire_test::from_hex("0a0b0c"));
    EXPECT_EQ(port_.counters().undelivered, 1U);
    EXPECT_EQ(port_.counters().frames_out, 1U);
}

TEST_F(PortWithHost, a_dropped_backlog_leaves_only_the_frame_that_was_sent_in_part) {
    const Bytes frame(50'000, std::byte{7});
    std::uint64_t sent = 0;
    while (port_.backlog() == 0 && sent < 1000) {
        port_.send(frame);
        ++sent;
        EXPECT_TRUE(port_.flush());
    }
    ASSERT_GT(port_.backlog(), 0U);
    ASSERT_LE(port_.backlog(), frame.size() + 4);
    const std::size_t rest = port_.backlog();
    for (int i = 0; i < 3; ++i)
        port_.send(frame);
    EXPECT_EQ(port_.backlog(), rest + 3 * (frame.size() + 4));
    port_.drop_backlog();
    // If the socket's buffer ended between two frames, no frame was sent in part.
    const bool is_whole = rest == frame.size() + 4;
    EXPECT_EQ(port_.backlog(), is_whole ? 0 : rest);
    EXPECT_EQ(port_.counters().undelivered, is_whole ? 4U : 3U);
    std::size_t received = 0;
    for (Bytes bytes = read_all(); !bytes.empty(); bytes = read_all()) {
        received += bytes.size();
        EXPECT_TRUE(port_.flush());
    }
    EXPECT_EQ(received, (sent - (is_whole ? 1 : 0)) * (frame.size() + 4));
}

}  // namespace port_test
