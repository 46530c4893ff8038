#include "rdma/cm_events.hpp"

#include <gtest/gtest.h>

#include "wire/cm.hpp"

namespace {

std::string_view name_of_reason(int reason) {
    wire::CmRej reject;
    reject.reason = static_cast<std::uint16_t>(reason);
    return reject.reason_name();
}

TEST(RejectText, agrees_with_the_names_of_the_specification) {
    EXPECT_EQ(name_of_reason(4), "Timeout");
    EXPECT_EQ(rdma::reject_text(4), "it timed out waiting for the connection to complete");
    EXPECT_EQ(name_of_reason(8), "Invalid Service ID");
    EXPECT_EQ(rdma::reject_text(8), "no program listens on this port");
    EXPECT_EQ(name_of_reason(10), "Stale connection");
    EXPECT_EQ(rdma::reject_text(10), "its end is a stale connection");
    EXPECT_EQ(name_of_reason(28), "Consumer Reject");
    EXPECT_EQ(rdma::reject_text(28), "the program refused it");
    EXPECT_EQ(rdma::reject_text(24), "reject reason 24");
}

}  // namespace
