#include "trace/timeline/send_queue.hpp"

#include <gtest/gtest.h>

namespace send_queue_test {

using timeline::PacketKey;
using timeline::SendQueue;
using timeline::Transmission;
using timeline::WorkRequest;

class Queue : public testing::Test {
  protected:
    void post(std::uint64_t wr_id, std::uint32_t first, std::uint32_t last,
              const char* opcode = "RDMA_WRITE") {
        queue_.add({now_++,
                    "client",
                    "post_send",
                    {{"qpn", 0x11U},
                     {"wr_id", wr_id},
                     {"opcode", opcode},
                     {"len", 5000U},
                     {"psn_first", first},
                     {"psn_last", last}}},
                   posts_++);
    }
    std::optional<Transmission> account(std::uint32_t psn, bool is_response, bool is_nak) {
        PacketKey key;
        key.psn = psn;
        key.is_response = is_response;
        key.is_nak = is_nak;
        key.t_ns = now_++;
        const auto place = queue_.account(key);
        return place ? std::optional(place->seen) : std::nullopt;
    }
    std::optional<Transmission> request(std::uint32_t psn) { return account(psn, false, false); }
    std::optional<Transmission> response(std::uint32_t psn, bool is_nak = false) {
        return account(psn, true, is_nak);
    }
    void complete(std::uint64_t wr_id, const char* status = "SUCCESS",
                  const char* opcode = "RDMA_WRITE") {
        queue_.complete(
            {now_++, "client", "wc", {{"wr_id", wr_id}, {"status", status}, {"opcode", opcode}}});
    }
    std::vector<WorkRequest> all() const {
        std::vector<WorkRequest> requests;
        queue_.for_each([&](const WorkRequest& request) { requests.push_back(request); });
        return requests;
    }

    SendQueue queue_;
    std::uint32_t posts_ = 0;
    std::int64_t now_ = 1000;
};

TEST_F(Queue, times_a_request_from_post_to_completion) {
    post(7, 100, 101);
    request(100);
    request(101);
    response(101);
    complete(7);
    const WorkRequest one = all().at(0);
    EXPECT_EQ(one.posted_ns, 1000);
    EXPECT_EQ(one.first_seen_ns, 1001);
    EXPECT_EQ(one.acknowledged_ns, 1003);
    EXPECT_EQ(one.completed_ns, 1004);
    EXPECT_EQ(one.status, "SUCCESS");
    EXPECT_EQ(one.length, 5000U);
    EXPECT_EQ(one.sent, 2U);
    EXPECT_EQ(one.answers, 1U);
    EXPECT_EQ(one.repeats, 0U);
}

TEST_F(Queue, tells_a_packet_sent_again_from_one_that_was_lost_before) {
    post(1, 0xfffffe, 2);
    EXPECT_EQ(request(0xfffffe), Transmission::First);
    EXPECT_EQ(request(0), Transmission::First);  // 0xffffff was lost before the capture
    response(0xffffff, true);
    EXPECT_EQ(request(0xffffff), Transmission::Late);
    EXPECT_EQ(request(0), Transmission::Again);
    EXPECT_EQ(request(1), Transmission::First);
    const WorkRequest one = all().at(0);
    EXPECT_EQ(one.repeats, 1U);
    EXPECT_EQ(one.naks, 1U);
    EXPECT_FALSE(one.acknowledged_ns);
}

TEST_F(Queue, one_ack_acknowledges_all_requests_before_it) {
    post(1, 10, 10);
    post(2, 11, 12);
    post(3, 13, 13);
    response(12);
    EXPECT_EQ(all().at(0).acknowledged_ns, 1003);
    EXPECT_EQ(all().at(1).acknowledged_ns, 1003);
    EXPECT_FALSE(all().at(2).acknowledged_ns);
    EXPECT_EQ(all().at(0).answers, 0U) << "the ACK has the second one's PSN";
}

TEST_F(Queue, a_nak_acknowledges_only_what_lies_before_it) {
    post(1, 10, 10);
    post(2, 11, 12);
    response(11, true);
    EXPECT_TRUE(all().at(0).acknowledged_ns);
    EXPECT_FALSE(all().at(1).acknowledged_ns);
}

TEST_F(Queue, a_read_is_done_with_its_last_response_only) {
    post(1, 10, 12, "RDMA_READ");
    post(2, 13, 13);
    EXPECT_EQ(request(10), Transmission::First);
    EXPECT_EQ(response(10), Transmission::First);
    response(13);  // the rest of the READ's responses was lost
    EXPECT_FALSE(all().at(0).acknowledged_ns);
    EXPECT_TRUE(all().at(1).acknowledged_ns);
    EXPECT_EQ(request(11), Transmission::Again);  // requests the missing part
    EXPECT_EQ(response(11), Transmission::First);
    EXPECT_EQ(response(10), Transmission::Again);
    response(12);
    EXPECT_EQ(all().at(0).acknowledged_ns, now_ - 1);
    EXPECT_EQ(all().at(0).repeats, 2U);
}

TEST_F(Queue, completions_find_their_posts_in_order) {
    post(5, 10, 10);
    post(5, 11, 11);  // the program chooses wr_ids, which need not be unique
    complete(5, "SUCCESS", "RECV");
    EXPECT_FALSE(all().at(0).completed_ns) << "a receive's";
    complete(5);
    EXPECT_TRUE(all().at(0).completed_ns);
    EXPECT_FALSE(all().at(1).completed_ns);
    complete(5, "RETRY_EXC_ERR", "");
    EXPECT_EQ(all().at(1).status, "RETRY_EXC_ERR");
    complete(5);
    EXPECT_EQ(all().at(1).status, "RETRY_EXC_ERR") << "nothing is outstanding any more";
}

TEST_F(Queue, a_completion_finds_its_post_by_its_number_where_programs_use_one_wr_id_for_all) {
    const auto post_numbered = [&](std::uint32_t number) {
        queue_.add({now_++,
                    "client",
                    "post_send",
                    {{"qpn", 0x11U},
                     {"wr_id", 0U},
                     {"opcode", "RDMA_WRITE"},
                     {"psn_first", 10 + number},
                     {"psn_last", 10 + number},
                     {"request", number}}},
                   posts_++);
    };
    for (const std::uint32_t number : {0U, 1U, 2U, 3U})
        post_numbered(number);
    const auto completes = [&](std::uint32_t number, const char* queue) {
        return queue_.complete(
            {now_++,
             "client",
             "wc",
             {{"wr_id", 0U}, {"status", "WR_FLUSH_ERR"}, {"queue", queue}, {"request", number}}});
    };
    EXPECT_EQ(completes(2, "recv"), nullptr);
    EXPECT_NE(completes(2, "send"), nullptr);
    EXPECT_FALSE(all().at(0).completed_ns) << "unsignalled";
    EXPECT_FALSE(all().at(1).completed_ns);
    EXPECT_TRUE(all().at(2).completed_ns);
    EXPECT_EQ(completes(4, "send"), nullptr);
    EXPECT_NE(completes(3, "send"), nullptr);
}

TEST_F(Queue, packets_of_no_request_change_nothing) {
    post(1, 10, 12);
    EXPECT_FALSE(request(9));
    EXPECT_FALSE(response(13));
    EXPECT_EQ(all().at(0).sent + all().at(0).answers, 0U);
}

}  // namespace send_queue_test
