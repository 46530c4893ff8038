// Which queue pair of the logs sent a stream.
#include "trace/explain/direction.hpp"

#include <string>

#include <gtest/gtest.h>

#include "runlog/event.hpp"
#include "trace/explain/logs.hpp"
#include "trace/explain/traffic.hpp"
#include "trace/flow/feed.hpp"

namespace direction_test {

using namespace flow_test;

class Directions : public testing::Test {
  protected:
    void log(const std::string& rest) {
        const auto event = runlog::from_json("{\"t_ns\":" + std::to_string(++now_) +
                                             ",\"role\":\"other\"," + rest + "}");
        ASSERT_TRUE(event) << rest;
        logs_.learn(*event);
    }
    // A queue pair of host 3, whose peer has the number 0x11.
    void connect(int peer, unsigned sq_psn) {
        log(R"("event":"device","device":"rxe0","gid_index":1,"gid":"::ffff:192.0.2.3")");
        log(R"("event":"qp","qpn":49,"type":"RC","max_send_wr":16,"send_cq":1,"recv_cq":1,"pd":1)");
        log(R"("event":"qp_state","qpn":49,"state":"RTS","dest_qpn":17,"rq_psn":500,"sq_psn":)" +
            std::to_string(sq_psn) + R"(,"gid_index":1,"dest_gid":"::ffff:192.0.2.)" +
            std::to_string(peer) + '"');
    }
    // Returns whether the packet of host 2 to queue pair 0x11 of host 1 is of that queue pair.
    bool is_its_packet() {
        const auto made = packet({.from = 2, .to = 1, .qpn = 0x11}, opcode::send_only, 100, 8);
        const auto frame = wire::encode(made);
        const auto decoded = wire::decode(frame, wire::LinkType::Ethernet, frame.size());
        flow::Tracker tracker;
        const std::uint64_t stream =
            tracker.add(std::chrono::milliseconds(1), decoded, frame.size());
        explain::Traffic traffic;
        traffic.add(1, 1'000'000, decoded, stream, frame);
        tracker.finish();
        traffic.settle(tracker);
        const auto directions = explain::directions_of(traffic, logs_);
        for (const explain::Direction& one : directions)
            if (one.stream != nullptr && one.requester != nullptr)
                return true;
        EXPECT_NE(directions.size(), 0U);
        return false;
    }

  private:
    explain::Logs logs_;
    std::int64_t now_ = 0;
};

TEST_F(Directions, are_not_of_a_queue_pair_whose_peer_is_another_host) {
    connect(/*peer=*/4, /*sq_psn=*/7000);
    EXPECT_FALSE(is_its_packet());
}

// Its host may have another address on the wire.
TEST_F(Directions, are_of_a_queue_pair_with_this_peer_or_with_this_psn) {
    connect(/*peer=*/1, /*sq_psn=*/7000);
    EXPECT_TRUE(is_its_packet());
    connect(/*peer=*/4, /*sq_psn=*/100);
    EXPECT_TRUE(is_its_packet());
}

}  // namespace direction_test
