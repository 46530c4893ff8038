// The checks of send queues in tests of traced programs detect wrong logs.
#include "support/send_queues.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace send_queues_test {

using runlog::Event;
using Log = std::vector<Event>;

Event made() {
    return {1, "client", "qp", {{"qpn", 17U}, {"type", "RC"}}};
}

Event post(unsigned request, bool is_signaled = true) {
    return {
        2,
        "client",
        "post_send",
        {{"qpn", 17U}, {"wr_id", 100 + request}, {"request", request}, {"signaled", is_signaled}}};
}

Event completion(unsigned request, unsigned wr_id) {
    return {3,
            "client",
            "wc",
            {{"qpn", 17U},
             {"wr_id", wr_id},
             {"status", "SUCCESS"},
             {"queue", "send"},
             {"request", request}}};
}

Event destroyed(unsigned posted, unsigned outstanding) {
    return {4,
            "client",
            "destroyed",
            {{"what", "qp"},
             {"qpn", 17U},
             {"sends_posted", posted},
             {"sends_outstanding", outstanding}}};
}

void read(const Log& log) {
    support::send_queues_of(log, "client");
}

TEST(SendQueues, an_unsignalled_request_completes_with_the_next_signalled_one) {
    const auto queues = support::send_queues_of(
        {made(), post(0, false), post(1), post(2, false), completion(1, 101), destroyed(3, 1)},
        "client");
    ASSERT_EQ(queues.size(), 1U);
    EXPECT_EQ(queues[0], (support::SendQueue{"client", 17, 3, 2}));
}

TEST(SendQueues, a_log_that_is_wrong_fails) {
    EXPECT_NONFATAL_FAILURE(read({made(), post(1)}), "queue.posted");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0), completion(0, 101)}), "wr_id");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0), completion(1, 101)}), "no outstanding request");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0, false), completion(0, 100)}), "signaled");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0), post(1), completion(1, 101)}),
                            "request 0 has no completion before");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0), destroyed(2, 1)}), "sends_posted");
    EXPECT_NONFATAL_FAILURE(read({made(), post(0), destroyed(1, 0)}), "sends_outstanding");
}

}  // namespace send_queues_test
