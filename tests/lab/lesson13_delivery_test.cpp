// Lesson 13 in the lab: how many atomics are outstanding, and that a duplicated one is executed once.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "lab/lesson13_checks.hpp"
#include "support/step_checks.hpp"

namespace lesson13_delivery_test {

using Packet = support::AtomicPacket;
using support::atomic_packets;
using support::by_psn;
using support::LabRun;
using support::rows;
using Strings = std::vector<std::string>;

class Lesson13Delivery : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// Returns the maximum number of outstanding requests of one queue pair.
std::size_t most_on_their_way(const LabRun& run) {
    std::map<std::uint64_t, std::uint64_t> qpn_of;
    for (const auto& state : LabRun::ready_to_send(run.client))
        qpn_of[state.number("dest_qpn").value()] = state.number("qpn").value();
    std::map<std::uint64_t, std::set<std::uint64_t>> open;
    std::size_t most = 0;
    for (const Packet& packet : atomic_packets(run))
        if (packet.is_answer) {
            open[packet.dest_qpn].erase(packet.psn);
        } else if (packet.va % 8 == 0) {
            auto& of_one = open[qpn_of[packet.dest_qpn]];
            of_one.insert(packet.psn);
            most = std::max(most, of_one.size());
        }
    return most;
}

TEST_F(Lesson13Delivery, no_more_are_on_their_way_than_the_responder_has_resources_for) {
    const Strings arguments{"--clients", "2", "--adds", "16", "--in-flight", "8"};
    for (const std::uint64_t resources : {1U, 4U}) {
        const LabRun run = support::capture(
            "13", {"LAB_SERVER_ARGS=--responder-resources " + std::to_string(resources)},
            arguments);
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        support::expect_words(run, 32, 4);
        support::expect_each_number_once(run, 32);
        const auto* asked = LabRun::find(run.client, "rd_atomic");
        const auto* answered = LabRun::find(run.server, "rd_atomic");
        ASSERT_TRUE(asked != nullptr && answered != nullptr);
        EXPECT_EQ(asked->number("max_rd_atomic"), resources);
        EXPECT_EQ(answered->number("max_dest_rd_atomic"), resources);
        // The connection manager's messages contain both the requested and the granted number.
        EXPECT_EQ(rows(run, "cm.initdepth", "cm.message == ConnectRequest").at(0), Strings{"8"});
        EXPECT_EQ(rows(run, "cm.respres", "cm.message == ConnectReply").at(0),
                  Strings{std::to_string(resources)});
        EXPECT_LE(most_on_their_way(run), resources);
    }
}

// Duplicates the packets that the client sends, during the lifetime of this object (tc-netem(8)).
class EveryPacketTwice {
  public:
    EveryPacketTwice() {
        const auto outcome = tc("add", "netem duplicate 100%");
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    }
    EveryPacketTwice(const EveryPacketTwice&) = delete;
    EveryPacketTwice& operator=(const EveryPacketTwice&) = delete;
    EveryPacketTwice(EveryPacketTwice&&) = delete;
    EveryPacketTwice& operator=(EveryPacketTwice&&) = delete;
    ~EveryPacketTwice() { tc("del", ""); }

  private:
    static support::Outcome tc(const std::string& what, const std::string& how) {
        return support::exec("client",
                             {"bash", "-c", "tc qdisc " + what + " dev eth0 root " + how});
    }
};

TEST_F(Lesson13Delivery, a_request_that_comes_twice_is_executed_once_and_answered_twice_alike) {
    LabRun run;
    {
        const EveryPacketTwice twice;
        run = support::capture("13");
    }
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_words(run, 16, 8);
    support::expect_each_number_once(run, 16);
    support::expect_log_is_wire(run);
    std::size_t requests = 0;
    for (const auto& [key, packets] : by_psn(atomic_packets(run), false)) {
        EXPECT_GE(packets.size(), 2U) << "PSN " << key.second;
        requests += packets.size();
    }
    for (const auto& [key, packets] : by_psn(atomic_packets(run), true)) {
        EXPECT_GE(packets.size(), 2U) << "PSN " << key.second;
        for (const Packet& packet : packets)
            EXPECT_EQ(packet.original, packets.front().original) << "PSN " << key.second;
    }
    const auto& counters = run.info["hosts"]["server"]["counters"];
    std::int64_t duplicates = 0;
    for (const auto& [port, after] : counters["after"].items())
        duplicates += after["duplicate_request"].get<std::int64_t>() -
                      counters["before"][port]["duplicate_request"].get<std::int64_t>();
    // The duplicate of a refused request arrives at a queue pair in the state ERR.
    EXPECT_EQ(duplicates, static_cast<std::int64_t>(requests / 2 - 2));
    support::expect_every_packet_joined(run);
}

}  // namespace lesson13_delivery_test
