// Captures whose frames are not in order of time.
#include <gtest/gtest.h>

#include "tools/rocecap/capture_file.hpp"
#include "trace/flow/feed.hpp"

namespace {

using namespace flow_test;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

class TimeOrder : public testing::Test {
  protected:
    // Four requests in the order 0, 2, 1, 3 and an ACK for all. `late_us`: the time of the third.
    void capture(int late_us) {
        int us = 0;
        for (const std::uint32_t psn : {0U, 2U, 1U, 3U}) {
            auto made = packet(there, opcode::send_only, psn, 64);
            made.bth->a = psn == 3;
            us += 1000;
            file_.add_at(psn == 1 ? late_us : us, wire::encode(made));
        }
        file_.add_at(us + 500, wire::encode(answer(back, 3)));
    }

    rocecap_test::CaptureFile file_{"time_order.pcapng"};
};

TEST_F(TimeOrder, of_frames_that_is_not_that_of_the_file_is_told_and_no_fault_of_hosts) {
    capture(1250);
    for (const char* command : {"flows", "check", "explain"}) {
        const auto outcome = file_.run(command);
        EXPECT_EQ(outcome.exit_code, 0) << command << outcome.out;
        EXPECT_EQ(outcome.err,
                  "rocecap: 1 frame is not in order of time, by up to 0.750 ms: packets may look "
                  "reordered that were not. 'reordercap' sorts a capture.\n")
            << command;
    }
    EXPECT_EQ(file_.run("explain").out, "No failure and no slowdown found in 5 RoCE packets.\n");
}

TEST_F(TimeOrder, of_packets_that_were_overtaken_is_that_of_the_file) {
    capture(3000);
    const auto outcome = file_.run("explain");
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("Packets arrived out of order once."), std::string::npos)
        << outcome.out;
}

}  // namespace
