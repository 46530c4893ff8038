// What has arrived of a TLS client's first record.
#include "net/client_hello.hpp"

#include <fcntl.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "util/stop_signal.hpp"

namespace client_hello_test {

using net::Hello;

class ClientHello : public testing::Test {
  protected:
    void send(std::string_view bytes) {
        ASSERT_EQ(::send(client_.fd.get(), bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
        sent_ += bytes.size();
        std::string here(sent_, '\0');
        ASSERT_EQ(recv(server_.fd.get(), here.data(), here.size(), MSG_PEEK | MSG_WAITALL),
                  static_cast<ssize_t>(sent_));
    }
    Hello look() { return net::look_at_hello(server_); }
    bool is_readable() {
        pollfd one{server_.fd.get(), POLLIN, 0};
        return poll(&one, 1, 0) == 1;
    }
    // The header of a TLS record with this many bytes.
    static std::string record(std::size_t length, char type = 22) {
        return {type, 3, 1, static_cast<char>(length >> 8), static_cast<char>(length)};
    }

    util::StopSignal stop_;
    net::TimeLimit limit_{stop_, util::deadline_in(std::chrono::seconds(20))};
    net::TcpListener listener_{util::Address::parse("127.0.0.1", 0).value()};
    net::Socket client_ = net::connect_tcp(listener_.address(), std::nullopt, limit_);
    net::Socket server_ = listener_.accept(limit_).value();
    std::size_t sent_ = 0;
};

TEST_F(ClientHello, is_whole_with_its_last_byte_and_makes_nobody_spin_before) {
    send(record(512).substr(0, 1));
    EXPECT_EQ(look(), Hello::Part);
    EXPECT_FALSE(is_readable());
    send(record(512).substr(1));
    EXPECT_TRUE(is_readable());
    EXPECT_EQ(look(), Hello::Part);
    send(std::string(511, 'h'));
    EXPECT_FALSE(is_readable());
    send("h");
    EXPECT_TRUE(is_readable());
    EXPECT_EQ(look(), Hello::Whole);
}

// What follows is for the handshake, which finds out.
TEST_F(ClientHello, of_a_client_that_is_gone_or_speaks_something_else_is_not_waited_for) {
    send(record(512));
    EXPECT_EQ(look(), Hello::Part);
    client_.fd.reset();
    pollfd one{server_.fd.get(), POLLIN, 0};
    ASSERT_EQ(poll(&one, 1, 20'000), 1);
    EXPECT_EQ(look(), Hello::Whole);
}

TEST_F(ClientHello, is_a_handshake_record) {
    send(record(512, 21));
    EXPECT_EQ(look(), Hello::Whole);
}

TEST_F(ClientHello, has_at_most_16384_bytes) {
    send(record(16384));
    EXPECT_EQ(look(), Hello::Part);
}

TEST_F(ClientHello, with_more_than_16384_bytes_is_none) {
    send(record(16385));
    EXPECT_EQ(look(), Hello::Whole);
}

}  // namespace client_hello_test
