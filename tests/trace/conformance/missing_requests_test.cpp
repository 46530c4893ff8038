// Requests that a capture at one point does not have, although they were answered.
#include "trace/conformance/one_point_capture.hpp"

namespace missing_requests_test {

using namespace conformance_test;

class MissingRequests : public testing::Test, protected OnePointCapture {
  protected:
    /// The number of PSNs, the first of them and the frame that shows it: "2 from 0x000001, frame 3".
    std::string missing() const {
        const auto& one = half().missing;
        return one.psns == 0
                   ? "none"
                   : fmt::format("{} from {:#08x}, frame {}", one.psns, one.first, one.frame);
    }
};

TEST_F(MissingRequests, before_an_acknowledged_one_are_no_deviation) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(3));
    pass(acknowledge(3, 4));
    pass(send_one(4));
    pass(acknowledge(4, 5));
    EXPECT_EQ(result(), " / psn-skipped, 0");
    EXPECT_EQ(missing(), "2 from 0x000001, frame 4");
    EXPECT_FALSE(half().began_in_the_middle);
}

TEST_F(MissingRequests, are_no_deviation_of_the_captured_host) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(acknowledge(2, 3));
    EXPECT_EQ(result_at_requester(), " / psn-skipped, 0");
}

TEST_F(MissingRequests, whose_ack_is_the_last_packet) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(2, 3));
    EXPECT_EQ(result(), " / ack-beyond, 0");
    EXPECT_EQ(missing(), "2 from 0x000001, frame 3");
}

TEST_F(MissingRequests, with_an_ack_of_their_own) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(1, 2));
    pass(acknowledge(2, 3));
    wait(11 * ms);
    pass(send_one(3));
    pass(acknowledge(3, 4));
    EXPECT_EQ(result(), " / ack-beyond ack-beyond psn-skipped, 0");
    EXPECT_EQ(missing(), "2 from 0x000001, frame 6");
}

TEST_F(MissingRequests, are_none_if_the_capture_dropped_no_packet) {
    has_all_packets();
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(3));
    pass(acknowledge(3, 4));
    EXPECT_EQ(result(), "ack-beyond / psn-skipped, 0");
    EXPECT_EQ(missing(), "none");
}

// An ACK or a request that is far ahead has a wrong PSN.
TEST_F(MissingRequests, are_at_most_as_many_as_a_capture_drops_at_once) {
    for (const auto& [ahead, at_end, in_between] :
         {std::tuple(65'536U, " / ack-beyond, 0", " / psn-skipped, 0"),
          {65'537U, "ack-beyond / , 0", "ack-beyond / psn-skipped, 0"}}) {
        SCOPED_TRACE(ahead);
        for (const bool is_request_captured : {false, true}) {
            OnePointCapture other;
            other.pass(send_one(0));
            other.pass(acknowledge(0, 1));
            if (is_request_captured)
                other.pass(send_one(1 + ahead));
            other.pass(acknowledge(1 + ahead, 2));
            EXPECT_EQ(other.result(), is_request_captured ? in_between : at_end);
        }
    }
}

TEST_F(MissingRequests, are_not_those_that_come_behind_their_ack) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(acknowledge(1, 2));
    wait(11 * ms);
    pass(send_one(1));
    pass(acknowledge(1, 2));
    EXPECT_EQ(result(), "ack-beyond / , 0");
    EXPECT_EQ(missing(), "none");
}

TEST_F(MissingRequests, are_not_those_that_a_nak_asks_for) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(nak(1, 1));
    pass(send_one(1));
    pass(send_one(2));
    pass(acknowledge(2, 3));
    EXPECT_EQ(result_at_responder(), " / psn-skipped, 0");
    EXPECT_EQ(missing(), "none");
}

TEST_F(MissingRequests, before_a_read) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(read_part(4, 2));
    pass(response(4, 0, 2, 3));
    pass(response(4, 1, 2, 3));
    pass(send_one(6));
    pass(acknowledge(6, 4));
    EXPECT_EQ(result_at_responder(), " / psn-skipped, 0");
    EXPECT_EQ(missing(), "3 from 0x000001, frame 4");
}

TEST_F(MissingRequests, whose_data_was_captured) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(response(1, 0, 2, 2));
    pass(response(1, 1, 2, 2));
    pass(send_one(3));
    pass(acknowledge(3, 3));
    EXPECT_EQ(result_at_responder(),
              " / response-without-request response-without-request psn-skipped, 0");
    EXPECT_EQ(missing(), "2 from 0x000001, frame 6");
}

TEST_F(MissingRequests, before_a_refused_one) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(rnr(2, 2));
    EXPECT_EQ(result_at_responder(), " / psn-skipped, 0");
    EXPECT_EQ(missing(), "1 from 0x000001, frame 4");
}

TEST_F(MissingRequests, in_the_middle_of_a_message) {
    pass(write_part(0, 0, 4));
    pass(write_part(0, 1, 4));
    pass(write_part(0, 3, 4));
    pass(acknowledge(3, 1));
    pass(send_one(4));
    pass(acknowledge(4, 2));
    EXPECT_EQ(result_at_responder(), " / psn-skipped, 0");
    EXPECT_EQ(missing(), "1 from 0x000002, frame 4");
}

TEST_F(MissingRequests, several_times) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    for (std::uint32_t psn = 2; psn < 300; psn += 3) {
        pass(send_one(psn));
        pass(send_one(psn + 1));
        pass(acknowledge(psn + 1, psn + 2));
    }
    result_at_responder();
    EXPECT_EQ(half().findings, 0U);
    EXPECT_EQ(half().unknowable, 100U);
    EXPECT_EQ(missing(), "100 from 0x000001, frame 5");
}

TEST_F(MissingRequests, before_a_single_ack_of_many) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    constexpr std::uint32_t last = 16'000;
    for (std::uint32_t psn = 2; psn <= last; psn += 2)
        pass(send_one(psn));
    pass(acknowledge(last, last + 1));
    pass(send_one(last + 1));
    pass(acknowledge(last + 1, last + 2));
    result_at_responder();
    EXPECT_EQ(half().findings, 0U);
    EXPECT_EQ(missing(), "8000 from 0x000001, frame 8003");
}

// Behind the gap, both hosts are followed as before.
TEST_F(MissingRequests, do_not_hide_what_comes_behind_them) {
    pass(send_one(0));
    pass(acknowledge(0, 1));
    pass(send_one(2));
    pass(acknowledge(2, 3));
    pass(fetch_add(3));
    pass(atomic_ack(3, 4, 7));
    wait(100 * ms);
    pass(fetch_add(3));
    pass(atomic_ack(3, 4, 8));
    EXPECT_EQ(result(), "atomic-replay / psn-skipped resend-without-cause, 0");
}

}  // namespace missing_requests_test
