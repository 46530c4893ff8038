// Tests of logs that are of another run than the capture.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trace/explain/scene.hpp"

namespace {

using namespace explain_test;

class OtherRuns : public Scene {
  protected:
    static constexpr std::int64_t hour = 3'600'000 * ms;

    std::vector<std::string> other_runs() {
        std::vector<std::string> roles;
        for (const explain::OtherRun& one : explained().other_runs)
            roles.push_back(one.role + (one.ahead_ns < 0 ? " later" : " earlier"));
        return roles;
    }
    using Roles = std::vector<std::string>;

    /// Logs of an hour ago, of a WRITE to 0x7008 in the region with rkey 0x555.
    void log_without_psns() {
        for (const auto& [role, pair] :
             {std::pair("server", server()), std::pair("client", client())}) {
            make(role, pair);
            log(role, R"("event":"qp_state","state":"RTR","gid_index":1,"qpn":)" +
                          std::to_string(pair.qpn) + R"(,"dest_qpn":)" +
                          std::to_string(pair.dest_qpn) + R"(,"dest_gid":")" + pair.dest_gid + '"');
        }
        region("server", 0x7000, 64, 0x555, "remote_write");
        log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"RDMA_WRITE","len":8,)"
                      R"("remote_va":28680,"rkey":1365)");
        wait(hour);
    }
};

TEST_F(OtherRuns, have_other_psns_at_another_time) {
    connect();
    posts_send(100, 8);
    wait(hour);
    send(7000);
    ack(7000);
    EXPECT_EQ(other_runs(), Roles({"client earlier", "server earlier"}));
}

TEST_F(OtherRuns, are_told_if_they_come_later) {
    send(7000);
    ack(7000);
    wait(hour);
    connect();
    posts_send(100, 8);
    EXPECT_EQ(other_runs(), Roles({"client later", "server later"}));
}

// Requests were lost before the capture, and another program's were not.
TEST_F(OtherRuns, are_not_those_of_the_same_time) {
    connect();
    posts_send(100, 8);
    wait(9'000 * ms);
    send(7000);
    EXPECT_EQ(other_runs(), Roles());
}

TEST_F(OtherRuns, are_not_those_of_a_wrong_clock) {
    connect();
    posts_send(100, 8);
    wait(hour);
    send(100);
    ack(100);
    EXPECT_EQ(other_runs(), Roles());
}

// The first packets are not in the capture: of the server's log, only the client's PSNs show its run.
TEST_F(OtherRuns, are_not_those_of_a_wrong_clock_where_the_capture_begins_in_the_middle) {
    connect();
    posts_send(100, 8);
    posts_send(101, 8);
    wait(hour);
    send(101);
    ack(101);
    EXPECT_EQ(other_runs(), Roles());
}

// Then the address of the remote memory shows the run.
TEST_F(OtherRuns, are_not_those_of_a_wrong_clock_without_psns) {
    log_without_psns();
    write(4711, 0x7008, 0x555, 8);
    EXPECT_EQ(other_runs(), Roles());
}

TEST_F(OtherRuns, have_other_addresses_without_psns) {
    log_without_psns();
    write(4711, 0x9008, 0x555, 8);
    EXPECT_EQ(other_runs(), Roles({"client earlier", "server earlier"}));
}

// A log with neither PSNs nor remote memory has nothing that a capture could have.
TEST_F(OtherRuns, are_not_those_that_hide_their_psns) {
    make("client", client());
    log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":8)");
    wait(hour);
    send(100);
    EXPECT_EQ(other_runs(), Roles());
}

// The server ran on. The second client reached it an hour later, but none of its packets did.
TEST_F(OtherRuns, are_not_those_beside_a_log_of_this_run) {
    connect();
    posts_send(100, 8);
    send(100);
    ack(100);
    wait(hour);
    Pair second = client();
    second.qpn = 0x22;
    second.sq_psn = 900;
    make("client2", second);
    ready("client2", second);
    EXPECT_EQ(other_runs(), Roles({"client2 later"}));
    log("server", R"("event":"note","text":"end")");
    EXPECT_EQ(other_runs(), Roles());
}

}  // namespace
