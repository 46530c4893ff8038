// The output of rocetrace --summary.
#include "rocetrace/tracelog/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace summary_test {

std::string summary_of(std::initializer_list<const char*> lines) {
    tracelog::Summary summary;
    for (const char* line : lines)
        summary.add_memory(runlog::from_json(line).value());
    for (const char* line : lines)
        summary.add(runlog::from_json(line).value());
    return summary.text();
}

TEST(Summary, names_the_request_that_failed_and_what_is_outstanding) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"server","event":"mr","va":4096,"len":100,"lkey":1,"rkey":2,"access":"local_write"})",
        R"({"t_ns":1,"role":"client","event":"qp","qpn":17,"type":"RC","max_send_wr":16,"max_recv_wr":1})",
        R"({"t_ns":2,"role":"client","event":"qp_state","qpn":17,"state":"RTS","dest_qpn":18,"path_mtu":1024,"timeout":14})",
        R"({"t_ns":3000,"role":"client","event":"post_send","qpn":17,"wr_id":7,"opcode":"RDMA_WRITE","len":64,"remote_va":4096,"rkey":2,"psn_first":5,"psn_last":5,"request":0,"signaled":true})",
        R"({"t_ns":4000,"role":"client","event":"post_send","qpn":17,"wr_id":8,"opcode":"SEND","len":1,"psn_first":6,"psn_last":6,"request":1,"signaled":true})",
        R"({"t_ns":4000,"role":"client","event":"post_send","qpn":17,"wr_id":9,"opcode":"SEND","len":1,"psn_first":7,"psn_last":7,"request":2,"signaled":true})",
        R"({"t_ns":5000,"role":"client","event":"wc","qpn":17,"wr_id":7,"status":"REM_ACCESS_ERR","vendor_err":0,"queue":"send","request":0})",
        R"({"t_ns":6000,"role":"client","event":"wc","qpn":17,"wr_id":8,"status":"WR_FLUSH_ERR","vendor_err":0,"queue":"send","request":1})",
    });
    EXPECT_EQ(text,
              "client: QP 0x000011 RC, RTS, to QP 0x000012\n"
              "  path MTU 1024, timeout 14\n"
              "  send queue: 3 posted (66 bytes), 2 completed, 1 outstanding; at most 3 of "
              "16 at once\n"
              "  00:00:00.000005 wr 7: REM_ACCESS_ERR: RDMA_WRITE of 64 bytes, posted "
              "00:00:00.000003, PSN 0x000005 to 0x000005; 1 flushed after it\n"
              "memory regions\n"
              "  server: 0x1000 + 100 bytes, lkey 0x00000001 rkey 0x00000002, local_write\n"
              "    used by QP 0x000011 of client: 1 requests\n");
}

TEST(Summary, counts_a_bound_window_as_a_request_that_sends_nothing) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"client","event":"qp","qpn":17,"type":"RC","max_send_wr":16,"max_recv_wr":1})",
        R"({"t_ns":2,"role":"client","event":"bind_mw","qpn":17,"wr_id":1,"rkey":5,"va":4096,"len":100,"access":"remote_write","request":0,"signaled":true})",
        R"({"t_ns":3,"role":"client","event":"wc","qpn":17,"wr_id":1,"status":"SUCCESS","opcode":"BIND_MW","byte_len":0,"queue":"send","request":0})",
        R"({"t_ns":4,"role":"client","event":"post_send","qpn":17,"wr_id":2,"opcode":"SEND","len":7,"psn_first":6,"psn_last":6,"request":1,"signaled":true})",
    });
    EXPECT_NE(text.find("send queue: 2 posted (7 bytes), 1 completed, 1 outstanding"),
              std::string::npos)
        << text;
}

// The numbers of the requests begin at 0 again, and those that were outstanding are gone.
TEST(Summary, counts_over_a_reset) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"client","event":"qp","qpn":17,"type":"RC","max_send_wr":16,"max_recv_wr":4})",
        R"({"t_ns":2,"role":"client","event":"post_send","qpn":17,"wr_id":1,"opcode":"SEND","len":7,"request":0,"signaled":true})",
        R"({"t_ns":3,"role":"client","event":"post_send","qpn":17,"wr_id":2,"opcode":"SEND","len":7,"request":1,"signaled":true})",
        R"({"t_ns":3,"role":"client","event":"post_recv","qpn":17,"wr_id":5,"len":64})",
        R"({"t_ns":4,"role":"client","event":"wc","qpn":17,"wr_id":1,"status":"SUCCESS","opcode":"SEND","byte_len":7,"queue":"send","request":0})",
        R"({"t_ns":5,"role":"client","event":"qp_state","qpn":17,"state":"RESET"})",
        R"({"t_ns":6,"role":"client","event":"post_send","qpn":17,"wr_id":3,"opcode":"SEND","len":7,"request":0,"signaled":true})",
        R"({"t_ns":7,"role":"client","event":"wc","qpn":17,"wr_id":3,"status":"SUCCESS","opcode":"SEND","byte_len":7,"queue":"send","request":0})",
        R"({"t_ns":8,"role":"client","event":"destroyed","what":"qp","qpn":17,"sends_posted":1,"sends_outstanding":0,"forgotten":5})",
    });
    EXPECT_NE(text.find("  5 requests were not followed to their completion"), std::string::npos);
    EXPECT_NE(text.find("send queue: 3 posted (21 bytes), 2 completed, 1 discarded by RESET, 0 "
                        "outstanding; at most 2 of 16 at once"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("receive queue: 1 posted, 0 used, 0 left"), std::string::npos) << text;
}

TEST(Summary, tells_how_long_no_receive_was_posted) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"server","event":"qp","qpn":17,"type":"RC","max_send_wr":1,"max_recv_wr":16})",
        R"({"t_ns":2,"role":"server","event":"post_recv","qpn":17,"wr_id":1,"len":64})",
        R"({"t_ns":1000,"role":"server","event":"wc","qpn":17,"wr_id":1,"status":"SUCCESS","opcode":"RECV","byte_len":1,"queue":"recv","request":0})",
        R"({"t_ns":9000,"role":"server","event":"post_recv","qpn":17,"wr_id":2,"len":64})",
    });
    EXPECT_NE(text.find("receive queue: 2 posted, 1 used, 1 left; minimum depth 0 of 1"),
              std::string::npos);
    EXPECT_NE(text.find("no receive was posted for 8 µs"), std::string::npos) << text;
}

TEST(Summary, names_the_receive_that_was_too_small) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"server","event":"qp","qpn":17,"type":"RC","max_send_wr":1,"max_recv_wr":16})",
        R"({"t_ns":2,"role":"server","event":"post_recv","qpn":17,"wr_id":1,"len":64})",
        R"({"t_ns":1000,"role":"server","event":"wc","qpn":17,"wr_id":1,"status":"LOC_LEN_ERR","vendor_err":0,"queue":"recv","request":0})",
    });
    EXPECT_NE(text.find("wr 1: LOC_LEN_ERR: receive of 64 bytes\n"), std::string::npos) << text;
}

TEST(Summary, has_queue_pairs_whose_creation_is_missing) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"client","event":"dropped","records":3})",
        R"({"t_ns":2,"role":"client","event":"qp_state","qpn":17,"state":"RTS","dest_qpn":18})",
        R"({"t_ns":3,"role":"client","event":"post_send","qpn":17,"wr_id":8,"opcode":"SEND","len":1,"request":0})",
    });
    EXPECT_NE(
        text.find("client: QP 0x000011 of unknown type, RTS, to QP 0x000012\n"
                  "  send queue: 1 posted (1 bytes), 0 completed, 1 outstanding; at most 1 at "
                  "once\n"),
        std::string::npos)
        << text;
}

TEST(Summary, names_the_request_that_failed_behind_dropped_ones) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"client","event":"qp","qpn":17,"type":"RC","max_send_wr":16,"max_recv_wr":1})",
        R"({"t_ns":2,"role":"client","event":"post_send","qpn":17,"wr_id":1,"opcode":"SEND","len":7,"request":3})",
        R"({"t_ns":3000,"role":"client","event":"dropped","records":2})",
        R"({"t_ns":4000,"role":"client","event":"post_send","qpn":17,"wr_id":4,"opcode":"RDMA_READ","len":9,"request":6})",
        R"({"t_ns":5000,"role":"client","event":"wc","qpn":17,"wr_id":2,"status":"SUCCESS","opcode":"SEND","queue":"send","request":4})",
        R"({"t_ns":6000,"role":"client","event":"wc","qpn":17,"wr_id":4,"status":"REM_ACCESS_ERR","vendor_err":0,"queue":"send","request":6})",
    });
    EXPECT_NE(text.find("wr 4: REM_ACCESS_ERR: RDMA_READ of 9 bytes, posted 00:00:00.000004\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("2 events are missing in the log"), std::string::npos) << text;
}

TEST(Summary, keeps_a_region_with_the_keys_of_an_earlier_one) {
    const std::string text = summary_of({
        R"({"t_ns":1,"role":"server","event":"mr","va":4096,"len":100,"lkey":1,"rkey":2,"access":"local_write"})",
        R"({"t_ns":2,"role":"server","event":"destroyed","what":"mr","va":4096,"len":100,"lkey":1,"rkey":2})",
        R"({"t_ns":3,"role":"server","event":"mr","va":4096,"len":50,"lkey":1,"rkey":2,"access":"local_write"})",
    });
    EXPECT_EQ(text,
              "memory regions\n"
              "  server: 0x1000 + 100 bytes, lkey 0x00000001 rkey 0x00000002, local_write, "
              "deregistered\n"
              "  server: 0x1000 + 50 bytes, lkey 0x00000001 rkey 0x00000002, local_write\n");
}

TEST(Summary, shows_both_queues_over_time_where_many_requests_went) {
    tracelog::Summary summary;
    const auto add = [&](const std::string& line) { summary.add(runlog::from_json(line).value()); };
    add(R"({"t_ns":0,"role":"c","event":"qp","qpn":17,"type":"RC","max_send_wr":64,"max_recv_wr":64})");
    const auto event = [&](int t, const char* name, const char* queue, int request) {
        add(fmt::format(
            R"({{"t_ns":{},"role":"c","event":"{}","qpn":17,"wr_id":0,"status":"SUCCESS","len":1,"opcode":"SEND","queue":"{}","request":{}}})",
            t * 1'000'000, name, queue, request));
    };
    // A part is 4.19 ms long (2^22 ns): requests are posted at 0 to 19 ms and complete at 20 to 39 ms.
    for (int i = 0; i < 20; ++i) {
        event(i, "post_recv", "", i);
        event(i, "post_send", "", i);
    }
    for (int i = 0; i < 20; ++i) {
        event(20 + i, "wc", "send", i);
        event(20 + i, "wc", "recv", i);
    }
    const std::string text = summary.text();
    EXPECT_NE(text.find("    most requests outstanding in each of 10 parts of 0.039 s: "
                        "5 9 13 17 20 19 14 10 6 2\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("    fewest receives left in each of 10 parts of 0.039 s: "
                        "1 5 9 13 17 14 10 6 2 0\n"),
              std::string::npos)
        << text;
}

}  // namespace summary_test
