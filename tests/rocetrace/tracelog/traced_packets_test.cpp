// The checks of logs and capture in tests of traced programs detect packets missing in either.
#include "support/traced_packets.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace traced_packets_test {

using support::PacketName;
using support::Prediction;
using support::Traffic;

const PacketName request{"client", 17, 0, 5};
const PacketName acknowledgement{"server", 18, 0, 5};
const PacketName other{"client", 17, 0, 6};

Prediction prediction() {
    Prediction made;
    made.requests = {{request, "post"}};
    made.acknowledgements = {acknowledgement};
    made.psns = 1;
    return made;
}

Traffic traffic() {
    Traffic made;
    made.requests = {{request, 1}};
    made.acknowledgements = {{acknowledgement, 1}};
    made.request_packets = 1;
    return made;
}

void compare(const Prediction& predicted, const Traffic& seen) {
    support::expect_wire_as_predicted(predicted, seen);
}

TEST(TracedPackets, a_run_that_is_as_predicted_passes) {
    EXPECT_EQ(support::expect_wire_as_predicted(prediction(), traffic()), 0U);
}

TEST(TracedPackets, what_one_side_lacks_fails) {
    Prediction more = prediction();
    more.requests.emplace(other, "post");
    EXPECT_NONFATAL_FAILURE(compare(more,
                                    [] {
                                        Traffic twice = traffic();
                                        twice.request_packets = 2;
                                        return twice;
                                    }()),
                            "not on the wire");
    Prediction reads = prediction();
    reads.read_responses.insert(acknowledgement);
    EXPECT_NONFATAL_FAILURE(compare(reads, traffic()), "not on the wire");
    Prediction counted = prediction();
    counted.psns = 2;
    EXPECT_NONFATAL_FAILURE(compare(counted, traffic()), "prediction.psns");
    Traffic seen = traffic();
    seen.requests.emplace(other, 1);
    EXPECT_NONFATAL_FAILURE(compare(prediction(), seen), "a request without a post");
    seen = traffic();
    seen.acknowledgements.emplace(other, 1);
    EXPECT_NONFATAL_FAILURE(compare(prediction(), seen), "an ACK without a post");
    seen = traffic();
    seen.read_responses.emplace(other, 1);
    EXPECT_NONFATAL_FAILURE(compare(prediction(), seen), "a response without a post");
}

TEST(TracedPackets, a_failed_request_need_not_be_on_the_wire) {
    Prediction predicted = prediction();
    predicted.requests.emplace(other, "post");
    predicted.failed.insert(other);
    EXPECT_EQ(support::expect_wire_as_predicted(predicted, traffic()), 0U);
}

}  // namespace traced_packets_test
