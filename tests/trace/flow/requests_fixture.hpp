// Requests of one direction of a connection, for tests of their PSNs. Each packet is decoded from a
// separate frame.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"

namespace requests_test {

using namespace flow_test;

inline constexpr std::size_t mtu = 1024;
inline constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
inline constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

class RequestPsns : public testing::Test {
  protected:
    void send(std::uint32_t psn) { feed_.add(packet(there, opcode::send_only, psn, 8)); }
    void send(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            send(first + i);
    }
    void read(std::uint32_t psn, std::size_t dmalen) {
        feed_.add(flow_test::read(there, psn, static_cast<std::uint32_t>(dmalen)));
    }
    /// Adds a packet whose size is the path MTU, so that the tracker knows it.
    void show_mtu(std::uint32_t psn) {
        feed_.add(packet(there, opcode::send_first, psn, mtu));
        feed_.add(packet(there, opcode::send_last, psn + 1, 1));
    }
    flow::Conversation conversation() const {
        const auto all = feed_.conversations();
        EXPECT_EQ(all.size(), 1U);
        return all.front();
    }
    flow::Requests requests() const { return conversation().forward.requests; }

    void expect_undisturbed() const {
        const auto seen = requests();
        EXPECT_EQ(seen.gaps, 0U);
        EXPECT_EQ(seen.missing, 0U);
        EXPECT_EQ(seen.late, 0U);
        EXPECT_EQ(seen.repeats, 0U);
        EXPECT_EQ(seen.restarts, 0U);
    }

    Feed feed_;
};

}  // namespace requests_test
