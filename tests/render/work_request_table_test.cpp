#include "render/work_request_table.hpp"

#include <gtest/gtest.h>

namespace work_request_table_test {

using timeline::Matcher;
using timeline::PacketRow;

constexpr std::int64_t ms = 1'000'000;

class WorkRequestTable : public testing::Test {
  protected:
    WorkRequestTable() {
        run_.learn({0, "server", "device", {{"gid", "::ffff:192.0.2.1"}}});
        run_.learn({0, "client", "device", {{"gid", "::ffff:192.0.2.2"}}});
        for (const char* role : {"server", "client"})
            run_.learn({0, role, "qp_state", {{"qpn", 0x11U}, {"dest_qpn", 0x11U}}});
    }

    void post(std::uint64_t length, std::uint32_t last, const char* opcode = "RDMA_WRITE") {
        run_.learn({0,
                    "client",
                    "post_send",
                    {{"qpn", 0x11U},
                     {"wr_id", 1U},
                     {"opcode", opcode},
                     {"len", length},
                     {"psn_first", 0U},
                     {"psn_last", last}}});
    }
    void packet(std::int64_t t_ns, std::uint32_t psn, bool is_response) {
        PacketRow row;
        row.t_ns = t_ns;
        row.key =
            timeline::PacketKey{is_response ? "192.0.2.2" : "192.0.2.1", 0x11, psn, is_response};
        row.key->t_ns = t_ns;
        run_.match(row);
    }
    void complete(std::int64_t t_ns, const char* status) {
        run_.learn({t_ns, "client", "wc", {{"qpn", 0x11U}, {"wr_id", 1U}, {"status", status}}});
    }
    std::string row() const {
        const std::string table = render::work_request_table(run_);
        return table.substr(table.find('\n', 1) + 1);
    }

    Matcher run_{{}, "server"};
};

TEST_F(WorkRequestTable, tells_where_a_requests_time_went) {
    post(10'000, 1);
    packet(1 * ms, 0, false);
    packet(2 * ms, 1, false);
    packet(4 * ms, 1, true);
    complete(6 * ms, "SUCCESS");
    EXPECT_EQ(
        row(),
        "client QP 0x000011 wr 1 RDMA_WRITE 10000 B                 2 + 1    1.000 ms    3.000 "
        "ms    6.000 ms\n");
}

TEST_F(WorkRequestTable, keeps_its_columns_where_much_was_lost) {
    post(100'000'000, 1);
    for (int i = 0; i < 1000; ++i)
        packet(1 * ms, 0, false);
    packet(20'000 * ms, 1, true);
    complete(20'001 * ms, "RETRY_EXC_ERR");
    EXPECT_EQ(row(),
              "client QP 0x000011 wr 1 RDMA_WRITE 100000000 B 1000 + 1, 999 again    1.000 ms    "
              "19.999 s    20.001 s\n    RETRY_EXC_ERR\n");
}

TEST_F(WorkRequestTable, names_an_error_beside_its_request_or_else_below) {
    post(64, 0);
    packet(1 * ms, 0, false);
    complete(6 * ms, "REM_ACCESS_ERR");
    EXPECT_EQ(row(),
              "client QP 0x000011 wr 1 RDMA_WRITE 64 B REM_ACCESS_ERR     1 + 0    1.000 ms"
              "           -    6.000 ms\n");
    EXPECT_EQ(row().size(), 101U);  // 100 columns and the line feed
}

TEST_F(WorkRequestTable, stays_within_a_hundred_columns_where_a_long_name_failed) {
    post(8, 0, "ATOMIC_FETCH_AND_ADD");
    packet(1 * ms, 0, false);
    complete(6 * ms, "REM_INV_REQ_ERR");
    EXPECT_EQ(row(),
              "client QP 0x000011 wr 1 ATOMIC_FETCH_AND_ADD 8 B           1 + 0    1.000 ms"
              "           -    6.000 ms\n    REM_INV_REQ_ERR\n");
}

TEST_F(WorkRequestTable, is_empty_where_nothing_was_posted) {
    EXPECT_EQ(render::work_request_table(run_), "");
}

}  // namespace work_request_table_test
