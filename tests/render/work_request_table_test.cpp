#include "render/work_request_table.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace work_request_table_test {

using timeline::Matcher;
using timeline::PacketRow;

constexpr std::int64_t ms = 1'000'000;

class WorkRequestTable : public testing::Test {
  protected:
    WorkRequestTable() { learn_connection(); }

    void learn_connection() {
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

// Request n of `count`, from 1: posted at 0, on the wire after n ms, completed after 2 n ms.
TEST_F(WorkRequestTable, sums_up_what_took_half_and_almost_all_of_more_than_twelve) {
    const auto table_of = [&](std::uint32_t count) {
        Matcher run({}, "server");
        std::swap(run, run_);
        learn_connection();
        for (std::uint32_t i = 0; i < count; ++i)
            run_.learn({0,
                        "client",
                        "post_send",
                        {{"qpn", 0x11U},
                         {"wr_id", std::uint64_t{i}},
                         {"opcode", "RDMA_WRITE"},
                         {"len", std::uint64_t{8}},
                         {"psn_first", i},
                         {"psn_last", i}}});
        for (std::uint32_t i = 0; i < count; ++i) {
            packet((i + 1) * ms, i, false);
            run_.learn({std::int64_t{2} * (i + 1) * ms,
                        "client",
                        "wc",
                        {{"qpn", 0x11U}, {"wr_id", std::uint64_t{i}}, {"status", "SUCCESS"}}});
        }
        return row();
    };
    const std::string twelve = table_of(12);
    EXPECT_EQ(std::ranges::count(twelve, '\n'), 12);
    EXPECT_EQ(twelve.find("took at most"), std::string::npos);
    const std::string many = table_of(200);
    EXPECT_EQ(std::ranges::count(many, '\n'), 15);
    const std::string half =
        "half of all took at most                                        "
        "  100.000 ms           -  200.000 ms\n";
    const std::string most =
        "99 of 100 took at most                                          "
        "  198.000 ms           -  396.000 ms\n";
    EXPECT_TRUE(many.ends_with("… and 188 more work requests\n" + half + most)) << many;
    EXPECT_NE(table_of(13).find("… and 1 more work requests\n"), std::string::npos);
}

TEST_F(WorkRequestTable, is_empty_where_nothing_was_posted) {
    EXPECT_EQ(render::work_request_table(run_), "");
}

}  // namespace work_request_table_test
