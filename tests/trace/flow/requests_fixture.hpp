// Requests of one direction of a connection, for tests of their PSNs.
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "trace/flow/connection.hpp"

namespace requests_test {

using namespace flow_test;

class RequestPsns : public SentRequests {
  protected:
    /// Adds a packet whose size is the path MTU, so that the tracker knows it.
    void show_mtu(std::uint32_t psn) {
        feed_.add(packet(there, opcode::send_first, psn, mtu));
        feed_.add(packet(there, opcode::send_last, psn + 1, 1));
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
};

}  // namespace requests_test
