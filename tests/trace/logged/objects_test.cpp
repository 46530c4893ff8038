// Queue pairs and memory regions as their events describe them.
#include "trace/logged/objects.hpp"

#include <string>

#include <gtest/gtest.h>

namespace objects_test {

using logged::QueuePair;
using logged::QueuePairs;

class Log {
  public:
    /// Takes one event of the client: `rest` is its fields.
    QueuePair* add(std::int64_t t_ns, const std::string& rest) {
        const auto event = runlog::from_json("{\"t_ns\":" + std::to_string(t_ns) +
                                             R"(,"role":"client","event":)" + rest + "}");
        regions.learn(event.value());
        lacks_beginning |= beginnings.is_missing_before(event.value());
        return pairs.learn(event.value());
    }

    QueuePairs<> pairs;
    logged::Regions regions;
    logged::Beginnings beginnings;
    bool lacks_beginning = false;
};

TEST(LoggedQueuePairs, have_their_sizes) {
    Log log;
    const QueuePair* pair =
        log.add(1, R"("qp","qpn":17,"max_send_wr":16,"max_recv_wr":4,"max_send_sge":3,)"
                   R"("max_recv_sge":2,"max_inline_data":0)");
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->max_recv_wr, 4U);
    EXPECT_EQ(pair->max_send_sge, 3U);
    EXPECT_EQ(pair->max_recv_sge, 2U);
    EXPECT_EQ(pair->max_inline_data, 0U);
    pair = log.add(2, R"("qp","qpn":18,"max_send_wr":16,"max_recv_wr":0,"max_recv_sge":0)");
    EXPECT_EQ(pair->max_send_sge, std::nullopt);
    EXPECT_EQ(pair->max_recv_sge, std::nullopt);
}

TEST(LoggedDevices, have_the_largest_limit_of_a_role) {
    Log log;
    log.add(1, R"("device","device":"a","max_cqe":100,"max_sge":4)");
    log.add(2, R"("device","device":"b","max_cqe":50)");
    EXPECT_EQ(log.pairs.devices().limit("client", runlog::key::max_cqe), 100U);
    EXPECT_EQ(log.pairs.devices().limit("client", runlog::key::max_sge), 4U);
    EXPECT_EQ(log.pairs.devices().limit("client", runlog::key::max_qp_wr), std::nullopt);
    EXPECT_EQ(log.pairs.devices().limit("server", runlog::key::max_cqe), std::nullopt);
    EXPECT_TRUE(log.pairs.devices().all().empty());
}

TEST(LoggedQueuePairs, have_the_attributes_of_their_events) {
    Log log;
    log.add(1, R"("device","gid_index":3,"gid":"::ffff:192.0.2.2")");
    log.add(2, R"("qp","qpn":17,"type":"RC","max_send_wr":16,"pd":1,"send_cq":2,"recv_cq":3)");
    log.add(3, R"("qp_state","qpn":17,"state":"INIT","access":"remote_write")");
    log.add(4, R"("qp_state","qpn":17,"state":"RTR","dest_qpn":18,"rq_psn":5,"path_mtu":1024,)"
               R"("gid_index":3,"dest_gid":"::ffff:192.0.2.1","min_rnr_timer":12)");
    const QueuePair* pair =
        log.add(5, R"("qp_state","qpn":17,"state":"RTS","dest_qpn":18,"sq_psn":7,"timeout":14)");
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->role, "client");
    EXPECT_EQ(pair->type, "RC");
    EXPECT_EQ(pair->max_send_wr, 16U);
    EXPECT_EQ(pair->recv_cq, 3U);
    EXPECT_EQ(pair->srq, std::nullopt);
    EXPECT_EQ(pair->state, "RTS");
    EXPECT_EQ(pair->made_ns, 2);
    EXPECT_EQ(pair->ready_ns, 4);
    EXPECT_EQ(pair->dest_qpn, 18U);
    EXPECT_EQ(pair->rq_psn, wire::Psn(5));
    EXPECT_EQ(pair->sq_psn, wire::Psn(7));
    EXPECT_EQ(pair->path_mtu, 1024U);
    EXPECT_EQ(pair->min_rnr_timer, 12U);
    EXPECT_EQ(pair->ack_timeout_ns(), 67'108'864);
    EXPECT_EQ(pair->gid, "::ffff:192.0.2.2");
    EXPECT_EQ(pair->dest_gid, "::ffff:192.0.2.1");
    EXPECT_EQ(pair->access, "remote_write");
}

TEST(LoggedQueuePairs, a_number_in_use_again_is_another_queue_pair) {
    Log log;
    log.add(1, R"("qp","qpn":17,"type":"RC")");
    log.add(2, R"("qp_state","qpn":17,"state":"RTS","dest_qpn":18)");
    log.add(3, R"("destroyed","what":"qp","qpn":17)");
    log.add(4, R"("qp","qpn":17,"type":"UD")");
    log.add(5, R"("qp_state","qpn":17,"state":"INIT")");
    ASSERT_EQ(log.pairs.all().size(), 2U);
    EXPECT_EQ(log.pairs.all()[0].destroyed_ns, 3);
    EXPECT_EQ(log.pairs.all()[0].state, "RTS");
    EXPECT_TRUE(log.pairs.all()[1].is_datagram());
    EXPECT_EQ(log.pairs.all()[1].dest_qpn, std::nullopt);
    EXPECT_EQ(log.pairs.all()[1].destroyed_ns, std::nullopt);
}

TEST(LoggedQueuePairs, are_known_from_their_states_alone) {
    Log log;
    EXPECT_EQ(log.add(1, R"("wc","qpn":17,"wr_id":1)"), nullptr);
    const QueuePair* pair = log.add(2, R"("qp_state","qpn":17,"state":"RTS","dest_qpn":18)");
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->made_ns, std::nullopt);
    EXPECT_EQ(pair->ready_ns, 2);
    log.add(3, R"("destroyed","what":"qp","qpn":17)");
    EXPECT_NE(log.add(4, R"("wc","qpn":17,"wr_id":1)"), nullptr);
    log.add(5, R"("qp_state","qpn":17,"state":"INIT")");
    EXPECT_EQ(log.pairs.all().size(), 2U);
}

TEST(LoggedQueuePairs, keep_the_psn_of_the_first_request) {
    Log log;
    log.add(1, R"("qp_state","qpn":17,"state":"RTS","sq_psn":7)");
    log.add(2, R"("qp_state","qpn":17,"state":"RTS","sq_psn":9)");
    log.add(3, R"("qp_state","qpn":17,"state":"ERR","sq_psn":9)");
    EXPECT_EQ(log.pairs.all()[0].sq_psn, wire::Psn(7));
}

TEST(LoggedQueuePairs, can_be_connected_again_after_reset) {
    Log log;
    log.add(1, R"("qp","qpn":17,"type":"RC")");
    log.add(2, R"("qp_state","qpn":17,"state":"RTS","dest_qpn":18,"sq_psn":7,"timeout":14)");
    log.add(3, R"("qp_state","qpn":17,"state":"ERR","dest_qpn":18)");
    const QueuePair* pair = log.add(4, R"("qp_state","qpn":17,"state":"RESET")");
    EXPECT_EQ(pair->state, "RESET");
    EXPECT_EQ(pair->dest_qpn, 18U);
    EXPECT_EQ(pair->failed_ns, 3);
    log.add(5, R"("qp_state","qpn":17,"state":"INIT")");
    pair = log.add(6, R"("qp_state","qpn":17,"state":"RTS","dest_qpn":19,"sq_psn":70)");
    EXPECT_EQ(pair->dest_qpn, 19U);
    EXPECT_EQ(pair->sq_psn, wire::Psn(70));
    EXPECT_EQ(pair->ready_ns, 6);
    EXPECT_EQ(log.pairs.all().size(), 1U);
}

TEST(LoggedRegions, of_one_address_end_by_their_lkey) {
    Log log;
    log.add(1, R"("mr","va":4096,"len":100,"lkey":7,"rkey":0,"access":"local_write")");
    log.add(2, R"("mr","va":4096,"len":100,"lkey":8,"rkey":0,"access":"local_write")");
    log.add(3, R"("destroyed","what":"mr","va":4096,"len":100,"lkey":7,"rkey":0)");
    log.add(4, R"("mr","va":4096,"len":50,"lkey":7,"rkey":9,"access":"remote_read","pd":1)");
    const auto& all = log.regions.all();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].gone_ns, 3);
    EXPECT_EQ(all[1].gone_ns, std::nullopt);
    EXPECT_EQ(all[2].gone_ns, std::nullopt);
    EXPECT_EQ(all[2].pd, 1U);
    EXPECT_TRUE(all[2].allows("remote_read"));
    EXPECT_TRUE(all[2].has(4096, 50));
    EXPECT_FALSE(all[2].has(4097, 50));
}

TEST(LoggedRegions, end_when_their_owner_invalidates_the_rkey) {
    Log log;
    log.add(1, R"("bind_mw","qpn":17,"va":4096,"len":100,"rkey":9,"access":"remote_write")");
    log.add(2, R"("post_send","qpn":17,"opcode":"SEND_WITH_INV","invalidates":9)");
    EXPECT_EQ(log.regions.all()[0].gone_ns, std::nullopt);
    log.add(3, R"("post_send","qpn":17,"opcode":"LOCAL_INV","invalidates":9)");
    EXPECT_EQ(log.regions.all()[0].gone_ns, 3);
}

// Of an rkey, the lowest 8 bits belong to the owner, and the others to the window.
TEST(LoggedRegions, end_when_their_window_is_bound_anew) {
    Log log;
    log.add(1, R"("mr","va":4096,"len":100,"lkey":7,"rkey":1031,"access":"remote_write")");
    log.add(2, R"("bind_mw","qpn":17,"va":4096,"len":100,"rkey":1024,"access":"remote_write")");
    log.add(3, R"("bind_mw","qpn":17,"va":4096,"len":100,"rkey":2048,"access":"remote_write")");
    log.add(4, R"("bind_mw","qpn":17,"va":8192,"len":100,"rkey":1025,"access":"remote_write")");
    const auto& all = log.regions.all();
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].gone_ns, std::nullopt);
    EXPECT_EQ(all[1].gone_ns, 4);
    EXPECT_EQ(all[2].gone_ns, std::nullopt);
    EXPECT_EQ(all[3].gone_ns, std::nullopt);
}

TEST(LogBeginnings, are_there_if_each_object_was_made) {
    Log log;
    log.add(1, R"("pd","handle":1)");
    log.add(2, R"("mr","va":4096,"len":100,"lkey":7,"rkey":7,"pd":1)");
    log.add(3, R"("qp","qpn":17,"pd":1)");
    log.add(4, R"("qp_state","qpn":17,"state":"INIT")");
    log.add(5, R"("post_recv","qpn":17,"len":8)");
    log.add(6, R"("post_recv","srq":9,"len":8)");
    log.add(7, R"("post_send","qpn":17,"len":8)");
    log.add(8, R"("destroyed","what":"qp","qpn":17)");
    log.add(9, R"("destroyed","what":"cq","cq":4)");
    log.add(10, R"("destroyed","what":"pd","handle":1)");
    EXPECT_FALSE(log.lacks_beginning);
}

class LogBeginning : public testing::TestWithParam<const char*> {};

TEST_P(LogBeginning, is_missing_before_an_event_about_what_nobody_made) {
    Log log;
    log.add(1, R"("pd","handle":1)");
    log.add(2, R"("qp","qpn":17,"pd":1)");
    log.add(3, GetParam());
    EXPECT_TRUE(log.lacks_beginning);
}

TEST_P(LogBeginning, is_there_if_it_has_the_start_of_the_program) {
    Log log;
    log.add(1, R"("process","pid":4)");  // its other events were left out (rocetrace --only)
    log.add(2, GetParam());
    EXPECT_FALSE(log.lacks_beginning);
}

INSTANTIATE_TEST_SUITE_P(All, LogBeginning,
                         testing::Values(R"("mr","va":4096,"len":100,"lkey":7,"rkey":7,"pd":2)",
                                         R"("qp","qpn":18,"pd":2)",
                                         R"("qp_state","qpn":18,"state":"INIT")",
                                         R"("post_recv","qpn":18,"len":8)",
                                         R"("post_send","qpn":18,"len":8)",
                                         R"("destroyed","what":"qp","qpn":18)",
                                         R"("destroyed","what":"pd","handle":2)"));

}  // namespace objects_test
