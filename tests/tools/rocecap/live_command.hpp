// Runs rocecap live on the loopback interface, and sends packets to it. Skips the test if capturing
// is not allowed. Other tests may run at the same time, and send packets of their own.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <string>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "support/own_network.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "wire/sample_frames.hpp"

namespace live_test {

inline support::Argv live(support::Argv options) {
    options.insert(options.begin(), {support::rocecap(), "live", "-i", "lo"});
    return options;
}

inline int lines(const std::string& text) {
    return static_cast<int>(std::ranges::count(text, '\n'));
}

class LiveCommand : public testing::Test {
  protected:
    void SetUp() override {
        const auto probe = support::run(live({"-d", "0"}));
        if (probe.err.find("not allowed to capture") != std::string::npos)
            GTEST_SKIP() << "capturing needs CAP_NET_RAW: " << probe.err;
    }

    // Sends UDP datagrams with RoCE packets to port 4791 of this host.
    static void send(int count) {
        constexpr std::size_t headers = 42;  // Ethernet, IPv4, UDP
        const auto frame = wire::encode(
            wire_test::sample_packet(*wire::find_opcode(0x0a), wire_test::Network::Ipv4, 64));
        const std::string datagram(reinterpret_cast<const char*>(frame.data()) + headers,
                                   frame.size() - headers);
        for (int i = 0; i < count; ++i)
            send(datagram);
    }
    static void send(const std::string& datagram) {
        const util::Fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ASSERT_TRUE(fd);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(4791);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ASSERT_GT(sendto(fd.get(), datagram.data(), datagram.size(), 0,
                         reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  0);
    }
    static void expect_ready(support::Process& process) {
        ASSERT_TRUE(process.await("ready", std::chrono::seconds(10)));
    }
    int packets_in_file() const { return packets_in(path_); }
    static int packets_in(const std::string& path) {
        const auto tshark = support::run({"tshark", "-r", path});
        EXPECT_EQ(tshark.exit_code, 0) << tshark.err;
        return lines(tshark.out);
    }

    support::OwnNetwork network_;
    support::TempPath temp_{"live.pcapng"};
    std::string path_ = temp_.str();
};

}  // namespace live_test
