// The benchmark of data transfer, with few iterations: its results are consistent.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/lab.hpp"

namespace transfer_test {

using nlohmann::json;

class Transfer : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    static support::Outcome measure(const std::string& rows) {
        return support::run({"bench/transfer/run"},
                            {"TRANSFER_REPEATS=1", "TRANSFER_SHARE=0.05", "TRANSFER_ROWS=" + rows,
                             "TRANSFER_OUT=" + file + "l"},
                            std::chrono::minutes(4));
    }

    static inline const std::string file = "build/bench/transfer_test.json";
};

TEST_F(Transfer, each_kind_is_measured_on_both_sides_and_shown) {
    const support::Outcome outcome = measure(
        "^(write_bw 65536 (lists|events)|read_bw 65536 (single|events)|write_lat 8|read_lat 8|"
        "send_lat 8|tcp)");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
    std::ifstream in(file);
    const json result = json::parse(in);
    ASSERT_EQ(result["rows"].size(), 8U);
    for (const json& row : result["rows"]) {
        EXPECT_GT(row["ours"][0], 0) << row;
        if (row["test"] != "write_bw" || row["way"] != "events") {
            EXPECT_GT(row["peer"][0], 0) << row;
        }
    }
    EXPECT_FALSE(result["machine"]["kernel"].get<std::string>().empty());
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 100U) << line;
}

// The device counts the packets that it sends.
TEST_F(Transfer, the_wire_carries_the_messages_that_were_measured) {
    const auto sent = [] {
        return std::stoull(
            support::exec("client",
                          {"cat", "/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"})
                .out);
    };
    const auto before = sent();
    const support::Argv plan{"--test",       "write_bw", "--size",  "65536",
                             "--iterations", "50",       "--depth", "8"};
    support::Argv server{"build/bench/transfer/server", "--bind", support::server_ip};
    support::Argv client{"build/bench/transfer/client", support::server_ip};
    server.insert(server.end(), plan.begin(), plan.end());
    client.insert(client.end(), plan.begin(), plan.end());
    const support::Process passive = support::start("server", server);
    const auto outcome = support::exec("client", client);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
    constexpr unsigned packets = 50 * (65'536 / 4096);
    EXPECT_GE(sent() - before, packets);
    EXPECT_LT(sent() - before, 2 * packets) << "repeats, and no other traffic";
}

TEST_F(Transfer, ends_that_disagree_say_so) {
    const support::Process passive =
        support::start("server", {"build/bench/transfer/server", "--bind", support::server_ip,
                                  "--test", "write_bw", "--size", "64"});
    const auto outcome = support::exec("client", {"build/bench/transfer/client", support::server_ip,
                                                  "--test", "write_bw", "--size", "128"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("give both the same --size"), std::string::npos) << outcome.all();
}

}  // namespace transfer_test
