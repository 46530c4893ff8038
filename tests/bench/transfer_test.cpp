#include <sstream>

#include <gtest/gtest.h>

#include "bench/transfer/table.hpp"
#include "util/error.hpp"

namespace {

std::string line(const std::string& test, const std::string& tool, const std::string& figures) {
    return R"({"test":")" + test + R"(","way":"events","size":1048576,"iterations":10,"tool":")" +
           tool + R"(","repeat":1,)" + figures + "}\n";
}
std::string ours(const std::string& test, const std::string& figures) {
    return line(test, "ours", R"("client_busy_ns":10485760,"server_busy_ns":20971520,)" + figures);
}
std::string peer(const std::string& test, const std::string& figures) {
    return line(test, "peer", figures);
}

bench::Transfers read(const std::string& text) {
    std::istringstream lines(text);
    return bench::read_transfers(lines);
}

std::string complaint(const std::string& text) {
    try {
        read(text);
    } catch (const util::Error& error) {
        return error.what();
    }
    return "";
}

const std::string two_repeats =
    R"({"machine":{"date":"2026-01-02","kernel":"6.1"}})"
    "\n" +
    ours("write_bw", R"("bytes_per_s":2097152)") + peer("write_bw", R"("bytes_per_s":1048576)") +
    peer("write_bw", R"("bytes_per_s":1048576)") + ours("write_bw", R"("bytes_per_s":3145728)") +
    ours("write_lat", R"("p50_ns":300000,"p99_ns":1)") + peer("write_lat", R"("p50_ns":200000)") +
    ours("tcp", R"("bytes_per_s":1048576)") + peer("tcp", R"("bytes_per_s":1048576)");

TEST(Transfers, a_row_has_its_repeats_in_order_and_their_ratios) {
    const bench::Transfers all = read(two_repeats);
    ASSERT_EQ(all.rows.size(), 3U);
    EXPECT_EQ(all.rows[0].ours, (std::vector<double>{2097152, 3145728}));
    EXPECT_EQ(all.rows[0].ratio().q1, 2);
    EXPECT_EQ(all.rows[0].ratio().q3, 3);
    EXPECT_EQ(all.rows[0].client_ns_a_byte, (std::vector<double>{1, 1}));
    EXPECT_EQ(all.rows[0].server_ns_a_byte, (std::vector<double>{2, 2}));
}

TEST(Transfers, faster_is_more_bandwidth_and_less_latency) {
    const std::string text = bench::markdown(read(two_repeats));
    EXPECT_NE(text.find("| write_bw | events | 1 MiB | 2.00 MiB/s | 1.00 MiB/s | perftest | "
                        "2.00 (2.00 to 3.00) | faster |"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("| write_lat | events | 1 MiB | 300.0 us | 200.0 us | perftest | "
                        "1.50 (1.50 to 1.50) | slower |"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("| iperf3 | 1.00 (1.00 to 1.00) | no difference |"), std::string::npos)
        << text;
    EXPECT_NE(text.find("| write_bw | 1 MiB | 1.00 ns | 2.00 ns | 1.00 |"), std::string::npos)
        << text;
}

TEST(Transfers, a_row_without_a_peer_has_no_ratio) {
    const bench::Transfers all =
        read("{\"machine\":{}}\n" + ours("write_bw", R"("bytes_per_s":2097152)"));
    EXPECT_NE(bench::markdown(all).find("| write_bw | events | 1 MiB | 2.00 MiB/s |  |  |  |  |"),
              std::string::npos)
        << bench::markdown(all);
    EXPECT_FALSE(bench::json(all)["rows"][0].contains("ratio"));
}

TEST(Transfers, the_table_fits_into_a_hundred_columns) {
    std::istringstream lines(bench::table(read(two_repeats)));
    for (std::string row; std::getline(lines, row);)
        EXPECT_LE(row.size(), 100U) << row;
}

TEST(Transfers, what_is_no_figure_is_said_with_its_line) {
    EXPECT_EQ(complaint("{\"machine\":{}}\nfoo\n"),
              "line 2 is not a result of bench/transfer/run: measure again.");
    EXPECT_EQ(complaint(ours("write_bw", R"("p50_ns":1)")),
              "line 1 is not a result of bench/transfer/run: measure again.");
}

TEST(Transfers, a_side_that_was_measured_less_often_is_said) {
    EXPECT_EQ(
        complaint(ours("write_bw", R"("bytes_per_s":1)") + ours("write_bw", R"("bytes_per_s":1)") +
                  peer("write_bw", R"("bytes_per_s":1)")),
        "write_bw of 1 MiB was not measured as often on both sides: measure again.");
}

TEST(Transfers, only_what_stands_between_the_marks_is_replaced) {
    EXPECT_EQ(bench::replace_section(
                  "a\n<!-- make bench: begin -->\nold\n<!-- make bench: end -->\nb", "new\n"),
              "a\n<!-- make bench: begin -->\nnew\n<!-- make bench: end -->\nb");
    EXPECT_THROW(bench::replace_section("a", "new"), util::Error);
}

}  // namespace
