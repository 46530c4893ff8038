// Lesson 13 in the lab: no update is lost according to the memory, the programs' logs and the wire;
// and refused requests.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "lab/lesson13_checks.hpp"
#include "support/step_checks.hpp"

namespace lesson13_test {

using Packet = support::AtomicPacket;
using support::atomic_packets;
using support::LabRun;
using support::rows;
using Strings = std::vector<std::string>;

class Lesson13 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson13, no_update_is_lost_and_the_wire_says_so_too) {
    const LabRun& run = support::plain_run("13");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_words(run, 16, 8);
    support::expect_each_number_once(run, 16);
    support::expect_log_is_wire(run);
    support::expect_every_packet_joined(run);
    support::expect_nothing_lost_and_all_understood(run);

    // Both ends queried the device.
    for (const auto* log : {&run.server, &run.client}) {
        const auto* device = LabRun::find(*log, "atomics");
        ASSERT_NE(device, nullptr);
        EXPECT_EQ(device->text("atomic_cap"), "HCA");
    }
}

TEST_F(Lesson13, each_swap_begins_where_the_one_before_ended_and_losers_see_a_winners_value) {
    const LabRun run = support::capture("13", {}, {"--clients", "6", "--bids", "4"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_words(run, 24, 24);
    std::map<std::uint64_t, std::uint64_t> qpn_of;  // the client's QPN by the server's
    for (const auto& state : LabRun::ready_to_send(run.client))
        qpn_of[state.number("dest_qpn").value()] = state.number("qpn").value();

    const auto* memory = LabRun::find(run.server, "mr");
    ASSERT_NE(memory, nullptr);
    const std::uint64_t maximum_va = memory->number("va").value() + 8;

    std::map<std::pair<std::uint64_t, std::uint64_t>, Packet> swaps;  // by the client's QPN and PSN
    std::uint64_t last = 0;
    std::set<std::uint64_t> been{0};
    std::vector<std::uint64_t> lost;
    std::set<std::pair<std::uint64_t, std::uint64_t>> answered;
    for (const Packet& packet : atomic_packets(run)) {
        const auto swap = swaps.find({packet.dest_qpn, packet.psn});
        if (!packet.is_answer) {
            if (packet.va == maximum_va && packet.swap != 0)  // swap 0 is a read
                swaps[{qpn_of[packet.dest_qpn], packet.psn}] = packet;
        } else if (swap != swaps.end() && answered.insert(swap->first).second) {
            if (packet.original != swap->second.compare) {
                lost.push_back(packet.original);
                continue;
            }
            EXPECT_EQ(packet.original, last);
            EXPECT_GT(swap->second.swap, last);
            last = swap->second.swap;
            been.insert(last);
        }
    }
    EXPECT_EQ(last, 24U);
    for (const std::uint64_t value : lost)
        EXPECT_TRUE(been.contains(value)) << value << " was never the maximum";
    EXPECT_GE(lost.size(), 5U) << "all but one begin with a value that is not there any more";

    const auto checks = LabRun::all(run.client, "check");
    const auto contest = std::ranges::find_if(
        checks, [](const auto& check) { return check.number("swaps").has_value(); });
    ASSERT_NE(contest, checks.end());
    EXPECT_EQ(contest->number("swaps"), answered.size());
    EXPECT_EQ(contest->number("lost"), lost.size());
}

TEST_F(Lesson13, an_odd_address_and_a_missing_right_are_refused_and_change_nothing) {
    const LabRun run = support::capture("13", {}, {"--clients", "1", "--adds", "1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_words(run, 1, 2);
    EXPECT_EQ(rows(run, "aeth.error", "aeth.type == NAK"),
              (support::Rows{{"Invalid Request"}, {"Remote Access Error"}}));
    Strings failed;
    for (const std::string& status : support::statuses(run.client))
        if (status != "SUCCESS")
            failed.push_back(status);
    EXPECT_EQ(failed, (Strings{"REM_INV_REQ_ERR", "REM_ACCESS_ERR"}));

    // Both ends of the first two connections are in ERR, and those of the third are in RTS,
    // according to the programs' queries before they disconnect. State events caused by
    // rdma_disconnect contain a PSN.
    const auto last_states = [](const std::vector<runlog::Event>& log) {
        std::map<std::uint64_t, std::string> by_qpn;
        for (const auto& state : LabRun::all(log, "qp_state"))
            if (state.text("state") == "RTS" || !state.number("sq_psn"))
                by_qpn[state.number("qpn").value()] = state.text("state");
        Strings all;
        for (const auto& qp : LabRun::all(log, "qp"))
            all.push_back(by_qpn[qp.number("qpn").value()]);
        return all;
    };
    EXPECT_EQ(last_states(run.client), (Strings{"RTS", "ERR", "ERR"}));
    EXPECT_EQ(last_states(run.server), (Strings{"RTS", "ERR", "ERR"}));

    // The first request has the right rkey and an unaligned address, the second the memory's other
    // rkey.
    const auto regions = LabRun::all(run.server, "mr");
    ASSERT_EQ(regions.size(), 2U);
    EXPECT_NE(regions[0].text("access").find("remote_atomic"), std::string_view::npos);
    EXPECT_EQ(regions[1].text("access").find("remote_atomic"), std::string_view::npos);
    EXPECT_EQ(regions[0].number("va"), regions[1].number("va"));
    std::vector<Packet> refused;
    for (const Packet& packet : atomic_packets(run))
        if (!packet.is_answer &&
            (packet.va % 8 != 0 || packet.rkey == regions[1].number("rkey").value()))
            refused.push_back(packet);
    ASSERT_EQ(refused.size(), 2U);
    EXPECT_EQ(refused[0].va, regions[0].number("va").value() + 1);
    EXPECT_EQ(refused[0].rkey, regions[0].number("rkey"));
    EXPECT_EQ(refused[1].va, regions[1].number("va"));
    EXPECT_EQ(refused[1].rkey, regions[1].number("rkey"));
    support::expect_every_packet_joined(run);
}

// The lab's machine has Debian 12, whose libibverbs has no FLUSH, or a newer one, whose kernel has it.
TEST_F(Lesson13, a_system_without_flush_says_so) {
    const LabRun run = support::capture("13", {}, {"--flush"});
    const auto* error = LabRun::find(run.client, "error");
    if (run.outcome.exit_code == 0) {
        EXPECT_EQ(error, nullptr);
        return;
    }
    ASSERT_NE(error, nullptr);
    EXPECT_NE(error->text("text").find("run LAB_SYSROOT=trixie lab/lab up, and this again."),
              std::string::npos)
        << error->text("text");
}

}  // namespace lesson13_test
